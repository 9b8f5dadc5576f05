"""The models that can be played: `models.toml`, read once and checked whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena.errors import ConfigError, NotFoundError
from models.completion import OnDelta, OnRequest
from models.config import nearest, problems, read_toml, tables_of
from models.digest import digest_of
from models.endpoint import Endpoint, Patience
from models.entries import Entry
from models.formats import PromptFormat
from models.library import SHIPPED, load_formats
from models.local import LocalServer, LocalServers, connector
from models.player import ModelPlayer, OnAttempt, OnFault

FORMATS_FILE = "formats.toml"
LADDER = Path(__file__).with_name("ladder") / "models.toml"
"""The checkpoints that the project trained itself."""
MakeEndpoint = Callable[..., Endpoint]


class Registry:
    """The entries of a file, with the endpoints that they share.

    Args:
        entries: the models; families are expanded already.
        formats: the prompt formats that they may name.
        make_endpoint: builds an endpoint; called with `Endpoint`'s arguments.
    """

    def __init__(
        self,
        entries: tuple[Entry, ...] = (),
        formats: Mapping[str, PromptFormat] = SHIPPED,
        make_endpoint: MakeEndpoint = Endpoint,
    ) -> None:
        self.entries = entries
        self.formats = formats
        self._by_name = {entry.name: entry for entry in entries}
        self._make_endpoint = make_endpoint
        self._endpoints: dict[tuple[Any, ...], Endpoint] = {}
        self._servers = LocalServers()

    @classmethod
    def load(
        cls,
        path: Path,
        formats_path: Path | None = None,
        make_endpoint: MakeEndpoint = Endpoint,
        *,
        shipped: Path | None = None,
    ) -> Registry:
        """Read a file with a table `[[model]]` for each model or family; a missing file has none.

        Args:
            path: `models.toml`.
            formats_path: the user's own prompt formats; `formats.toml` beside it if not said.
            make_endpoint: builds an endpoint; called with `Endpoint`'s arguments.
            shipped: a file of models that come with the arena, such as `LADDER`. Where the first
                file has a model of the same name, that one counts.

        Raises:
            ConfigError: a file cannot be used; the message names file, entry, key and reason.
        """
        formats = load_formats(formats_path or path.with_name(FORMATS_FILE))
        entries = _entries(path, formats)
        ours = {} if shipped is None else _entries(shipped, formats)
        return cls(tuple((entries | {**ours, **entries}).values()), formats, make_endpoint)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def get(self, name: str) -> Entry:
        """The entry of that name.

        Raises:
            NotFoundError: there is none; the message says which are near.
        """
        entry = self._by_name.get(name)
        if entry is None:
            raise NotFoundError(f"no model is called {name!r}: {nearest(name, self._by_name)}")
        return entry

    def add_file(self, path: Path) -> Entry:
        """An entry for a GGUF file that no file of the operator's names; always the same one.

        Its name ends in a part of a hash of the content: a file that training has written anew is
        another player, and one that has only moved is not.

        Raises:
            NotFoundError: there is no such file.
            ConfigError: it cannot be read.
        """
        try:
            digest = digest_of(path)[:8]
        except FileNotFoundError:
            raise NotFoundError(f"there is no file {str(path)!r}") from None
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
        table = {"name": f"{path.name[:60]} {digest}", "gguf": str(path.absolute())}
        entry = _entry(path, 1, table, self.formats)
        if entry.name not in self._by_name:
            self._by_name[entry.name] = entry
            self.entries += (entry,)
        return self._by_name[entry.name]

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of that model: one for all entries that reach it in the same way.

        Raises:
            NotFoundError: there is no such model.
        """
        entry = self.get(name)
        headers = tuple(sorted(entry.headers_env.items()))
        patience = Patience(
            timeout_s=entry.timeout_s, max_tries=entry.max_tries, max_wait_s=entry.max_wait_s
        )
        where = self._server(entry) or entry.base_url
        reached = (where, entry.model, entry.api_key_env, headers, patience)
        if reached not in self._endpoints:
            self._endpoints[reached] = self.fresh_endpoint(name, patience)
        return self._endpoints[reached]

    def fresh_endpoint(self, name: str, patience: Patience) -> Endpoint:
        """Another endpoint of that model, which has learnt nothing yet; the caller closes it.

        Raises:
            NotFoundError: there is no such model.
        """
        entry = self.get(name)
        server = self._server(entry)
        return self._make_endpoint(
            entry.address,
            entry.model,
            api_key_env=entry.api_key_env,
            headers_env=entry.headers_env,
            patience=patience,
            connect=connector(server) if server else None,
        )

    def player(
        self,
        name: str,
        *,
        on_delta: OnDelta | None = None,
        on_request: OnRequest | None = None,
        on_attempt: OnAttempt | None = None,
        on_fault: OnFault | None = None,
    ) -> ModelPlayer:
        """That model in a seat; whom to tell what happens is `ModelPlayer`'s to explain.

        Raises:
            NotFoundError: there is no such model.
        """
        entry = self.get(name)
        return ModelPlayer(
            entry,
            self.formats[entry.prompt],
            self.endpoint(name),
            on_delta=on_delta,
            on_request=on_request,
            on_attempt=on_attempt,
            on_fault=on_fault,
        )

    def _server(self, entry: Entry) -> LocalServer | None:
        if entry.gguf is None:
            return None
        return self._servers.get(Path(entry.gguf), entry.threads, entry.context)

    async def close(self) -> None:
        """Close the connections of this event loop, and end the processes of GGUF files.

        All can be used again.
        """
        for endpoint in self._endpoints.values():
            await endpoint.aclose()
        await self._servers.close()


def _entries(path: Path, formats: Mapping[str, PromptFormat]) -> dict[str, Entry]:
    tables = tables_of(path, read_toml(path), "model") or []
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{path}: a model is a table with two brackets: [[model]]")
    entries: dict[str, Entry] = {}
    for number, table in enumerate(tables, 1):
        for entry in _entry(path, number, table, formats).expand():
            if entry.name in entries:
                raise ConfigError(f"{path}: two models are called {entry.name!r}")
            entries[entry.name] = entry
    return entries


def _entry(
    path: Path, number: int, table: dict[str, Any], formats: Mapping[str, PromptFormat]
) -> Entry:
    name = table.get("name")
    which = f"{path}: model {number}" + (f" ({name!r})" if isinstance(name, str) else "")
    try:
        entry = Entry.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{which}: {problems(error, Entry)}") from None
    if entry.prompt not in formats:
        hint = nearest(entry.prompt, formats)
        raise ConfigError(f"{which}: 'prompt' names no prompt format: {hint}")
    if entry.gguf is not None:
        gguf = path.absolute().parent / Path(entry.gguf).expanduser()
        return entry.model_copy(update={"gguf": str(gguf)})
    return entry
