"""Players, replies and whole games to store; by hand, and at random by Hypothesis."""

from hypothesis import strategies as st

from arena.board import Mark
from arena.game import Attempt, Game, Message, Request, Termination, Turn, Verdict
from arena.players import Identity, Kind

PERSON = Identity(Kind.HUMAN, "Ann")
OTHER_PERSON = Identity(Kind.HUMAN, "Bob")
RANDOM = Identity(Kind.ENGINE, "random")
FIRST = Identity(Kind.ENGINE, "minimax:tie=first", deterministic=True)
LAST = Identity(Kind.ENGINE, "minimax:tie=last", deterministic=True)
MODEL = Identity(
    Kind.MODEL, "tiny", "family", 100, "tags", "a1b2", {"model": "t", "sampling": {"top_p": 1}}
)
GREEDY = Identity(Kind.MODEL, "greedy", settings={"temperature": 0}, deterministic=True)
PLAYERS = (PERSON, RANDOM, FIRST, LAST, MODEL, GREEDY)

OPENER_WINS = (0, 3, 1, 4, 2)
OPENER_WINS_TOO = (0, 3, 1, 5, 2)
REPLIER_WINS = (0, 3, 1, 4, 8, 5)
DRAW = (0, 1, 2, 4, 3, 5, 7, 6, 8)


def game_of(moves, opener=Mark.X, seed=0, attempts=None, rollout=0):
    """A game of these squares; `attempts` by ply."""
    game = Game(opener, seed, rollout=rollout)
    for ply, square in enumerate(moves):
        game.add(Turn(game.to_move, square, (attempts or {}).get(ply, ())))
    return game


def attempt(prompt, reply, verdict=Verdict.OK, square=0, **more):
    """A reply to a chat; the prompt as (role, content) pairs."""
    messages = tuple(Message(*each) for each in prompt)
    facts = {"contains": verdict is Verdict.OK, "exact": False, **more}
    return Attempt(messages, reply, verdict, square, **facts)


def chat(*contents):
    """A chat in which system, then user and assistant in turn, say these."""
    roles = ["system", *["user", "assistant"] * len(contents)]
    return tuple(Message(role, content) for role, content in zip(roles, contents, strict=False))


characters = st.characters(exclude_categories=()) | st.sampled_from(
    "\0\ud83d\ude00\udfff😀é\n\r\"'\\ab"
)
texts = st.text(characters, max_size=12)
maybe_texts = st.none() | texts
tokens = st.none() | st.integers(0, 100_000)
seconds = st.floats(0, 1000, allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
messages = st.builds(Message, texts, texts, maybe_texts)
requests = st.builds(
    Request,
    status=st.none() | st.integers(100, 599),
    seconds=seconds,
    sent=st.dictionaries(texts, json_values, max_size=2),
    error=maybe_texts,
    finish_reason=maybe_texts,
    prompt_tokens=tokens,
    completion_tokens=tokens,
)
some_requests = st.lists(requests, max_size=2).map(tuple)


@st.composite
def prompts(draw, before):
    """A prompt after an attempt: mostly what a chat would make of it, sometimes anything."""
    fresh = tuple(draw(st.lists(messages, max_size=3)))
    if before is None:
        return fresh
    reasoning = draw(st.sampled_from((None, before.reasoning, "other")))
    start = before.prompt[: draw(st.integers(0, len(before.prompt)))]
    return draw(
        st.sampled_from(
            (
                fresh,
                (*start, *fresh),
                (*before.prompt, Message("assistant", before.reply, reasoning), *fresh),
            )
        )
    )


@st.composite
def attempts(draw, before=None, verdict=None):
    """An attempt after another one of the same seat."""
    return Attempt(
        prompt=draw(prompts(before)),
        reply=draw(texts),
        verdict=verdict or draw(st.sampled_from([v for v in Verdict if v is not Verdict.OK])),
        square=draw(st.none() | st.integers() | st.just(10**30)),
        contains=draw(st.booleans()),
        exact=draw(st.booleans()),
        reasoning=draw(maybe_texts),
        reasoning_field=draw(maybe_texts),
        finish_reason=draw(maybe_texts),
        seed=draw(st.none() | st.integers(0, 1 << 70)),
        prompt_tokens=draw(tokens),
        completion_tokens=draw(tokens),
        seconds=draw(seconds),
        requests=draw(some_requests),
        adaptations=draw(st.sampled_from(((), ("no_temperature",), ("no_seed", "max_tokens")))),
    )


@st.composite
def played(draw, models=(Mark.X, Mark.O), finished=True, rollouts=1):
    """A game in which these marks are models'; where `finished`, ended in one of all the ways."""
    opener, seed = draw(st.sampled_from(Mark)), draw(st.integers(0, 3))
    game = Game(opener, seed, rollout=draw(st.integers(0, rollouts - 1)))
    before = dict.fromkeys(Mark)

    def replies(*verdicts):
        made = []
        if game.to_move in models:
            for verdict in verdicts:
                made.append(draw(attempts(before[game.to_move], verdict)))
                before[game.to_move] = made[-1]
        return tuple(made)

    plies = draw(st.integers(0, 9))
    while game.outcome is None and len(game.turns) < plies:
        wrong = draw(st.integers(0, 2))
        made = replies(*[None] * wrong, Verdict.OK)
        game.add(Turn(game.to_move, draw(st.sampled_from(game.board.free)), made))
    if game.outcome is None and finished:
        ways = [t for t in Termination if t not in (Termination.LINE, Termination.FULL_BOARD)]
        end = draw(st.sampled_from(ways))
        game.end(
            end,
            None if end.is_void else game.to_move,
            attempts=replies(None, None),
            requests=draw(some_requests),
        )
    return game
