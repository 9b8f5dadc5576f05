"""The socket that the server listens on, taken before anything slow is imported."""

from __future__ import annotations

import errno
import socket

from arena.errors import ConfigError

_REASONS = {
    errno.EADDRINUSE: "is taken: choose another with --port",
    errno.EACCES: "is not allowed to you: choose one above 1023 with --port",
}


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on this address; port 0 is any free one.

    Raises:
        ConfigError: it cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family)
    except (OSError, OverflowError) as error:
        reason = _REASONS.get(getattr(error, "errno", None) or 0)
        if reason:
            raise ConfigError(f"port {port} {reason}") from None
        raise ConfigError(f"{host} is no address of this machine to listen on") from None
