"""An effect service in a process of its own: what stands between a plane and the oracle in the cells that ask for it.

It takes the times of a race by its own clock, the only one that all racers share: when each delivery set out, and when
each effect was committed. Times are for figures; no verdict rests on them.

It lives exactly as long as the harness holds its standard input open.
"""

from __future__ import annotations

import json
import os
import socketserver
import sys
import threading
import time
from pathlib import Path

from resumption.worker.oracle import SqliteOracle

__all__ = ["main"]


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, address: str, record: Path, times: Path) -> None:
        super().__init__(address, _Connection)
        self.record = record
        self._times = os.open(times, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def take_time(self, name: str) -> None:
        """Note that something called so happens now, in one write."""
        os.write(self._times, json.dumps([name, time.monotonic_ns()]).encode() + b"\n")


class _Connection(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        oracle = SqliteOracle(self.server.record)
        for line in self.rfile:
            name, *effect = json.loads(line)
            if effect:
                oracle.fire(name, *effect)
            self.server.take_time(name)
            self.wfile.write(b"+")
        oracle.close()


def main() -> None:
    """Serve on the socket named first, into the record and the times named next, until standard input ends."""
    address, record, times = sys.argv[1:]
    server = _Server(address, Path(record), Path(times))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
