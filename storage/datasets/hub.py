"""A dataset's folder to the Hugging Face Hub."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, cast

from arena.errors import ConfigError, NotFoundError, StorageError
from storage.datasets.folder import CARD, MARK

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PATIENCE_S = 60.0
"""For which a Hub may be silent; its client would wait for ever."""
_TOKEN = re.compile(r"[!-~]+")
_NONSENSE = (LookupError, TypeError, AttributeError, ValueError)
"""What the client stumbles over where an answer has not the form that it should have."""
_ROWS = (".jsonl", ".parquet")
_OURS = ("*/train-*", "*/validation-*")
"""What a push takes away where the new dataset has it no more."""
_OF_ANY = {".gitattributes", CARD}
"""What the Hub itself puts into a dataset that is new."""


class Pushed(NamedTuple):
    """Where a dataset went."""

    url: str
    files: int
    commit: str


def push(folder: Path, repo: str, token: str | None, *, private: bool = True) -> Pushed:
    """Make the dataset on the Hub what is in a folder, in one commit.

    Args:
        folder: an export.
        repo: `name` or `owner/name`; made if it is not there.
        token: of the Hub. Never stored or shown.
        private: whether a new one is private.

    Raises:
        ConfigError: there is no token, or it can be none.
        NotFoundError: there is no export in the folder.
        StorageError: the Hub refuses or cannot be reached, or the dataset there holds rows that
            are none of an export, or an empty one would take the place of one with rows.
    """
    # A second that other commands do not pay.
    from huggingface_hub import HfApi, get_session, set_client_factory
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    # What the client underneath raises, whichever it is, and the system.
    faults = cast("tuple[type[Exception], ...]", HfHubHTTPError.__bases__)
    token = (token or "").strip()
    if not token:
        raise ConfigError("there is no token of the Hub: set HF_TOKEN")
    if not _TOKEN.fullmatch(token):
        raise ConfigError("the token of the Hub has characters that none has: set HF_TOKEN anew")
    files = _files(folder)
    # The token that is passed, and none that an earlier log-in left on this machine.
    usual = get_session()
    client, hooks = type(usual), usual.event_hooks
    # Not this session's alone: after some faults the client makes itself another.
    set_client_factory(lambda: client(follow_redirects=True, timeout=PATIENCE_S, event_hooks=hooks))
    api = HfApi(token=token, library_name="tictactoe-arena")
    try:
        full = api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True).repo_id
        there = api.list_repo_files(full, repo_type="dataset")
        if set(there) - _OF_ANY and not (CARD in there and MARK in _card(api, full)):
            raise StorageError(
                f"{full} holds something else than an export, and a push takes files away: name "
                "another dataset"
            )
        if not any(path.suffix in _ROWS for path in files) and any(
            name.endswith(_ROWS) for name in there
        ):
            raise StorageError(
                f"{repo} has rows, and {folder} has none: an empty dataset does not take the "
                "place of one that is not"
            )
        commit = api.upload_folder(
            folder_path=folder,
            repo_id=full,
            repo_type="dataset",
            commit_message="Games of tic-tac-toe",
            delete_patterns=list(_OURS),
            allow_patterns=[CARD, *_OURS],
        )
    except HFValidationError as error:
        raise NotFoundError(f"{repo!r} is no name of a dataset: {error}") from None
    except LocalEntryNotFoundError as error:
        raise StorageError(f"the Hub cannot be reached: {type(error).__name__}") from None
    except HfHubHTTPError as error:
        said = error.server_message or str(error).partition("\n")[0]
        raise StorageError(f"the Hub refuses: {said.replace(token, '…')}") from None
    except faults as error:
        raise StorageError(f"the Hub cannot be reached: {type(error).__name__}") from None
    except _NONSENSE as error:
        what = f"{type(error).__name__}: {error}".replace(token, "…")
        raise StorageError(f"the Hub answers what no Hub does ({what:.200})") from None
    return Pushed(f"{api.endpoint}/datasets/{full}", len(files), commit.oid)


def _card(api: HfApi, repo: str) -> str:
    """The text of a dataset's card on the Hub."""
    with TemporaryDirectory(prefix="arena-") as folder:
        found = api.hf_hub_download(repo, CARD, repo_type="dataset", local_dir=folder)
        return Path(found).read_text("utf-8", "replace")


def _files(folder: Path) -> list[Path]:
    """The files of an export, its card among them."""
    known = folder / CARD
    if not known.is_file() or MARK not in known.read_text("utf-8", "replace"):
        raise NotFoundError(f"{folder} is no export: `arena export … --out {folder}` makes one")
    return [known, *(path for pattern in _OURS for path in sorted(folder.glob(pattern)))]
