"""A real PgBouncer in front of a test's PostgreSQL server."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from .support import until

__all__ = ["free_port", "pooled"]

_CONFIGURATION = """\
[databases]
* = host=127.0.0.1 port={server} user=resumption
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
server_round_robin = {round_robin}
"""


@contextmanager
def pooled(url: str, mode: str, *, round_robin: bool = False, port: int = 0) -> Iterator[str]:
    """The URL of the same database behind a pooler, at a free port if none is given."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed (Debian's package is `pgbouncer`)")
    parts = psycopg.conninfo.conninfo_to_dict(url)
    port = port or free_port()
    folder = Path(tempfile.mkdtemp(prefix="resumption-pgbouncer-"))
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        _CONFIGURATION.format(server=parts["port"], port=port, mode=mode, round_robin=int(round_robin))
    )
    # It doesn't run as root.
    account = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    os.chown(folder, account.pw_uid, account.pw_gid)
    process = subprocess.Popen(
        [program, "--quiet", str(configuration)],
        cwd="/",
        stderr=subprocess.DEVNULL,
        **({"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}),  # type: ignore[call-overload]  # the arguments of an unprivileged program
    )
    try:
        until(lambda: _answers(port))
        yield f"postgresql://resumption@127.0.0.1:{port}/{parts['dbname']}"
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def _answers(port: object) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
