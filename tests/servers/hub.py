"""A Hugging Face Hub that knows data sets only: enough of its routes for one push."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_REPO = re.compile(r"/api/datasets/([\w.-]+/[\w.-]+)(/.*)?$")
_FILE = re.compile(r"/datasets/([\w.-]+/[\w.-]+)/resolve/main/(.+)$")


class Hub:
    """Keeps the files of each data set; `refuses` answers everything with that status."""

    def __init__(self, user: str = "me") -> None:
        self.user = user
        self.repos: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.commits: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        """What clients said who they are."""
        self.refuses: int | None = None
        self.odd: dict[str, tuple[int, bytes]] = {}
        """By a part of a route's path: a status and a body that a Hub does not give."""
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_HEAD(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _answer(self, body: bytes) -> None:
        hub = self.hub
        hub.tokens.add(self.headers.get("authorization", ""))
        path = self.path.partition("?")[0]
        odd = next((answer for part, answer in hub.odd.items() if part in path), None)
        if odd:
            self._send(*odd, "text/html")
        elif hub.refuses:
            self._give(hub.refuses, {"error": "You may not do this"})
        elif path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or hub.user}/{asked['name']}"
            known = name in hub.repos
            hub.repos.setdefault(name, {})
            hub.private.setdefault(name, _is_private(asked))
            self._give(409 if known else 200, {"url": f"{hub.url}/datasets/{name}", "name": name})
        elif path == "/api/validate-yaml":
            self._give(200, {"errors": [], "warnings": []})
        elif (found := _REPO.match(path)) and found[1] in hub.repos:
            self._of_repo(found[1], found[2] or "", body)
        elif (file := _FILE.match(path)) and file[2] in hub.repos.get(file[1], {}):
            self._send(200, hub.repos[file[1]][file[2]], "text/plain")
        else:
            self._give(404, {"error": f"nothing at {path}"})

    def _of_repo(self, name: str, rest: str, body: bytes) -> None:
        files = self.hub.repos[name]
        if rest.startswith("/tree/"):
            found = [
                {"type": "file", "path": path, "size": len(content), "oid": "0" * 40}
                for path, content in sorted(files.items())
            ]
            self._give(200, found)
        elif rest.startswith("/preupload/"):
            wanted = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False, "oid": None}
                for each in json.loads(body)["files"]
            ]
            self._give(200, {"files": wanted})
        elif rest.startswith("/commit/"):
            parts = [json.loads(line) for line in body.splitlines()]
            self.hub.commits.append(parts[0]["value"])
            for part in parts[1:]:
                value = part["value"]
                if part["key"] == "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                elif part["key"] == "deletedFile":
                    del files[value["path"]]
            url = f"{self.hub.url}/datasets/{name}/commit/1"
            self._give(200, {"commitUrl": url, "commitOid": "1", "success": True})
        else:
            siblings = [{"rfilename": path} for path in sorted(files)]
            self._give(200, {"id": name, "sha": "0" * 40, "siblings": siblings})

    def _give(self, status: int, content: Any) -> None:
        self._send(status, json.dumps(content).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("etag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("x-repo-commit", "0" * 40)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _is_private(asked: dict[str, Any]) -> bool:
    """As the older and the newer clients say it."""
    return bool(asked.get("private")) or asked.get("visibility") == "private"
