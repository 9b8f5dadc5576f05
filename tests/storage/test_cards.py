"""Cards of examined models."""

from datetime import UTC, datetime, timedelta

from storage import cards


def test_the_last_card_of_each_model_is_kept(db):
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    later = noon + timedelta(hours=1)
    cards.save(db, "a", {"ok": False}, lambda: noon)
    cards.save(db, "b/\ud83d", {"texts": ["\0", "é"]}, lambda: noon)
    cards.save(db, "a", {"ok": True}, lambda: later)
    assert cards.find_all(db) == {
        "a": cards.StoredCard("a", {"ok": True}, later),
        "b/\ud83d": cards.StoredCard("b/\ud83d", {"texts": ["\0", "é"]}, noon),
    }
