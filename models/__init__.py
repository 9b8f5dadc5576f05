"""A checkpoint as a player: how it is asked, how it is reached, how its replies are read."""
