"""An effect service in a process of its own: what stands between a plane and the oracle in the cells that ask for it.

It lives exactly as long as the harness holds its standard input open.
"""

from __future__ import annotations

import json
import os
import socketserver
import sys
import threading
from pathlib import Path

from resumption.worker.oracle import SqliteOracle

__all__ = ["main"]


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, address: str, record: Path) -> None:
        super().__init__(address, _Connection)
        self.record = record


class _Connection(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        oracle = SqliteOracle(self.server.record)
        for line in self.rfile:
            call, effect, value = json.loads(line)
            oracle.fire(call, effect, value)
            self.wfile.write(b"+")
        oracle.close()


def main() -> None:
    """Serve on the socket named first, into the record named second, until standard input ends."""
    address, record = sys.argv[1:]
    server = _Server(address, Path(record))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
