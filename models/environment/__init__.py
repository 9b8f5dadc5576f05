"""The arena as an environment of the `verifiers` library, for training and for its own tools.

    options <- examples, facts <- conversation, harness <- taskset <- table, duel

The rules, opponents, prompt formats, reading of replies and reward are the arena's own: a
`ModelPlayer` sits at the one referee's table, and only its endpoint differs. Importing `verifiers`
takes seconds, so nothing that the web app or the command line imports may import what is in here.
The names by which its tools find it are `tictactoe_arena` and, for model against model,
`tictactoe_arena_duel`.
"""
