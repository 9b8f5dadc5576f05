from hypothesis import given
from hypothesis import strategies as st

from arena.game import Message, Verdict
from storage.prompts import pack, unpack
from tests.storage.samples import attempt, attempts, chat, prompts


@given(st.data())
def test_every_prompt_comes_back(data):
    before = data.draw(st.none() | attempts())
    prompt = data.draw(prompts(before))
    assert unpack(pack(prompt, before), before) == prompt


def test_a_chat_that_goes_on_is_stored_as_what_it_adds():
    before = attempt(chat("s" * 1000, "first"), "reply " * 100, reasoning="because")
    plain = (*before.prompt, Message("assistant", before.reply), Message("user", "next"))
    assert pack(plain, before) == '[2,1,[["user","next"]]]'
    kept = (*before.prompt, Message("assistant", before.reply, "because"), Message("user", "next"))
    assert pack(kept, before) == '[2,2,[["user","next"]]]'


def test_feedback_that_joins_the_last_message():
    before = attempt(chat("system", "first"), "", Verdict.EMPTY)
    joined = chat("system", "first\n\nempty: once more")
    assert pack(joined, before) == '[1,0,[["user","first\\n\\nempty: once more"]]]'
    assert unpack(pack(joined, before), before) == joined


def test_a_fresh_prompt():
    before = attempt(chat("system", "first"), "reply")
    fresh = chat("another system", "board")
    assert unpack(pack(fresh, before), before) == fresh
    assert unpack(pack(before.prompt, before), before) == before.prompt
    assert unpack(pack((), before), before) == ()
