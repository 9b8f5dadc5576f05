"""`arena push`: a dataset to the Hugging Face Hub."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from cli.context import Json, plain, words
from storage.datasets.hub import push as to_hub

TOKEN = "HF_TOKEN"


def push(
    repo: Annotated[str, typer.Argument(help="The dataset on the Hub: name, or owner/name.")],
    folder: Annotated[Path, typer.Option(help="What `arena export … --out FOLDER` wrote.")],
    public: Annotated[
        bool, typer.Option("--public", help="Let everybody see a dataset that is new.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send a dataset to the Hugging Face Hub. The token is read from $HF_TOKEN alone."""
    pushed = to_hub(folder, repo, os.environ.get(TOKEN), private=not public)
    if as_json:
        print(json.dumps(pushed._asdict()))
    else:
        words.print(f"{pushed.files} files are at {plain(pushed.url)}", highlight=False)
