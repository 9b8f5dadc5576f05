"""Games of a checkpoint against the engines of a panel, for the tests to store."""

import random
from dataclasses import replace

from arena.board import Mark
from arena.game import Game
from arena.opponents import parse
from arena.players import EnginePlayer
from storage import Recording
from tests.storage.samples import MODEL

OTHER = replace(MODEL, name="other", step=200)
PLAIN = replace(MODEL, name="plain", family=None, step=None, prompt="blind")


def engine(spec):
    """The identity of an engine."""
    return EnginePlayer(parse(spec)).identity


def play(chooser, spec, mark, seed=0, opener=Mark.X, rollout=0):
    """A game in which `chooser(game)` names the squares of `mark`, against an engine."""
    opponent, game = parse(spec), Game(opener, seed, rollout=rollout)
    while game.outcome is None:
        own = game.to_move is mark
        game.move(chooser(game) if own else opponent.choose(game.board, game.salt))
    return game


def careless(chance, key=0):
    """Someone who plays perfectly but for a share of random moves."""
    best = parse("minimax")

    def choose(game):
        draw = random.Random(f"{key} {game.seed} {game.rollout} {game.opener} {game.moves}")
        if draw.random() < chance:
            return draw.choice(game.board.free)
        return best.choose(game.board, game.salt)

    return choose


def always_alike(game):
    """Someone who plays perfectly, and answers a board alike each time."""
    return parse("minimax:tie=last").choose(game.board, game.salt)


def recorded(who, chooser, specs, seeds, rollouts=1, opener=Mark.X):
    """Games of a checkpoint against each engine, opening and replying."""
    found = []
    for seed in seeds:
        for spec in specs:
            for mark in Mark:
                for rollout in range(rollouts):
                    game = play(chooser, spec, mark, seed, opener, rollout)
                    x, o = (who, engine(spec)) if mark is Mark.X else (engine(spec), who)
                    found.append(Recording(game, x, o))
    return found
