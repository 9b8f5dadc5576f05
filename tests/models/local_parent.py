"""A process that starts a GGUF file's own, says which that is, and leaves or waits for its end."""

import asyncio
import sys
from pathlib import Path

from models.local import LocalServer


async def main() -> None:
    server = LocalServer(Path(sys.argv[1]))
    await server.running()
    print(server.pid, flush=True)
    if sys.argv[2] == "wait":
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
