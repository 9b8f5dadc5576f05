"""Every error that the project raises on purpose. Its message is a sentence for the user.

    ArenaError
    ├── SpecError         an opponent spec that names no engine
    ├── RulesError        a move or a record that the rules do not allow
    ├── ConfigError       a file or a variable of the operator's that cannot be used
    ├── StorageError      the database cannot be opened, or is newer than the code
    ├── NotFoundError     no such game, player or flavour
    ├── ConflictError     a stale or repeated move: the game has gone on
    ├── AccessError       this needs the operator, or the seat's secret
    └── BusyError         a cap is reached: try again later

What a server or a network does wrong is no exception: a player returns it as the end of the game
(`Termination.PROVIDER_ERROR`), since a fault is data.
"""


class ArenaError(Exception):
    """The base of them all."""


class SpecError(ArenaError, ValueError):
    """An opponent spec that names no engine."""


class RulesError(ArenaError, ValueError):
    """A move or a record that the rules do not allow."""


class ConfigError(ArenaError):
    """A file or an environment variable of the operator's that cannot be used."""


class StorageError(ArenaError):
    """The database cannot be opened, or is newer than the code."""


class NotFoundError(ArenaError):
    """Nothing by that name or id."""


class ConflictError(ArenaError):
    """The game has gone on since the caller looked."""


class AccessError(ArenaError):
    """Only the operator, or the holder of the seat's secret, may do this."""


class BusyError(ArenaError):
    """A cap is reached; the same call may succeed later."""
