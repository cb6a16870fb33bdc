"""A PostgreSQL server of one's own for as long as a `with` block: for tests, probes and benchmarks.

The server's programs have to be installed; nothing is downloaded. It listens on a free loopback port and on nothing
else, keeps `fsync` on (a restart must lose nothing that was acknowledged), and is gone with its files afterwards, also
when this process is killed: a guardian outlives it for as long as that takes.
PostgreSQL refuses to run as root, so a root caller's server runs as the user `postgres`, or `nobody` if there is none.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypedDict

from resumption.errors import PostgresMissing

if TYPE_CHECKING:
    import pwd

__all__ = ["ThrowawayPostgres", "find_binaries"]

_GUARDIAN = 'cat > /dev/null; "$1" stop --mode=immediate --pgdata="$2/data"; rm -rf "$2"'
"""What is left to do when this process is gone; its end closes the guardian's standard input."""

_WHERE = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/pgsql/bin")


_QUIET = "-c autovacuum=off -c checkpoint_timeout=1h -c wal_level=minimal -c max_wal_senders=0"
"""Options without which the server would work in the background, and write a log for nobody. None of them makes a
commit that was acknowledged less durable."""


class _Identity(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


class ThrowawayPostgres:
    """A server that lives in a `with` block; `dsn` leads to its database.

    Its files are in a folder of their own in `parent`, or where temporary files go. Raises `PostgresMissing` if the
    server's programs aren't installed or it doesn't start; the message has its log.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = parent
        self._guardian: subprocess.Popen[bytes] | None = None
        self._binaries = find_binaries()
        self._user = _unprivileged_user()
        self._folder = Path()
        self.port = 0

    @property
    def dsn(self) -> str:
        """Where the server listens."""
        return f"postgresql://resumption@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> ThrowawayPostgres:
        self._folder = Path(tempfile.mkdtemp(prefix="resumption-postgres-", dir=self._parent))
        try:
            if self._user is not None:
                os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
            self._guardian = self._guard()
            self._run("initdb", "--username=resumption", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
            self.port = _free_port()
            self.start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop("immediate")  # its files are removed next: a checkpoint would be for nobody
        finally:
            self._remove()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = (
            f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' -c max_connections=200 "
            f"{_QUIET}"
        )
        self._run("pg_ctl", "start", "--wait", f"--log={self._folder / 'server.log'}", f"--options={options}")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server and wait for its end. `mode`: "fast", or "immediate" for a crash."""
        self._run("pg_ctl", "stop", "--wait", f"--mode={mode}")

    def restart(self, mode: str = "fast") -> None:
        """Stop and start; every session is lost, what was committed is not."""
        self.stop(mode)
        self.start()

    def _guard(self) -> subprocess.Popen[bytes]:
        """Start the guardian, as the server's user and out of reach of a terminal's Ctrl-C."""
        return subprocess.Popen(
            ["/bin/sh", "-c", _GUARDIAN, "guardian", str(self._binaries / "pg_ctl"), str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **self._identity,
        )

    def _remove(self) -> None:
        if self._guardian is not None:
            self._guardian.kill()
            self._guardian.communicate()
        shutil.rmtree(self._folder)

    @property
    def _identity(self) -> _Identity:
        """Whom the server's programs run as, in the words of `subprocess`."""
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), f"--pgdata={self._folder / 'data'}", *arguments]
        output = self._folder / f"{program}.log"
        with output.open("wb") as sink:  # not a pipe: the server would keep it open
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd="/",
                check=False,
                **self._identity,
            )
        if done.returncode != 0:
            raise PostgresMissing(
                f"{program} failed: {self._last_words(output)}", advice="The output above is the server's own."
            )

    def _last_words(self, output: Path) -> str:
        logs = [output, self._folder / "server.log"]
        return " | ".join(log.read_text(errors="replace").strip()[-800:] for log in logs if log.exists())


def find_binaries() -> Path:
    """The folder of the newest installed server's programs. Raises `PostgresMissing`."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else []
    for pattern in _WHERE:
        folders.extend(Path("/").glob(pattern.removeprefix("/")))
    usable = [folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()]
    if not usable:
        raise PostgresMissing(
            "No PostgreSQL server is installed here (looked for initdb and pg_ctl).",
            advice="Install your system's PostgreSQL server package; a database is made and removed as needed.",
        )
    return max(usable, key=_release)


def _release(folder: Path) -> float:
    digits = "".join(character for character in folder.parent.name if character.isdigit() or character == ".")
    return float(digits) if digits.replace(".", "", 1).isdigit() else 0.0


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Whom the server runs as; None for the caller."""
    if os.getuid() != 0:
        return None
    import pwd  # not everywhere: on Windows the command line must load, to say that it needs WSL

    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _free_port() -> int:
    """A port that was free a moment ago. If somebody is faster the server doesn't start, and says so."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
