"""A real HTTP server that plays a model: scripts, recorded answers, faults and delays."""

from tests.servers.answers import Answer, Drip, Json, Page, Reset, Say, Silence, payload
from tests.servers.policy import BookModel, PolicyModel, board_in
from tests.servers.server import ModelServer, Received, closed_port
from tests.servers.talker import Talker

__all__ = [
    "Answer",
    "BookModel",
    "Drip",
    "Json",
    "ModelServer",
    "Page",
    "PolicyModel",
    "Received",
    "Reset",
    "Say",
    "Silence",
    "Talker",
    "board_in",
    "closed_port",
    "payload",
]
