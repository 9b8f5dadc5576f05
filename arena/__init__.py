"""The ground floor: rules, perfect play, opponents and the referee.

Pure: no files, no network, no clock and no hidden randomness. Imports run one way,
board <- symmetry, solver <- opponents <- exact, game, panels, plan <- players, reward <- match <-
evaluation.
"""
