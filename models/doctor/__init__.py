"""The doctor: what an endpoint does with the requests that games are made of.

    card, subject ← contact, requests, context, replies ← examination

`examine` asks a model a few dozen times at most, and returns a `Card` of what was seen. Like all
that has to do with endpoints, a fault is data here: nothing raises for what a server does.
"""

from models.doctor.card import Card, Outcome, Probe
from models.doctor.examination import examine

__all__ = ["Card", "Outcome", "Probe", "examine"]
