"""The ground floor: rules, perfect play, opponents and the referee.

Pure: no files, no network, no clock and no hidden randomness. Imports run one way,
board, rates, comparisons <- symmetry, solver, reasons <- opponents, traps <- exact, game, panels,
plan, memorisation, batch <- players, reward, analysis <- match, mistakes <- evaluation.
"""
