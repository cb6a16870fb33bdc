"""Worker processes from the harness's side: a client of the zygote, and plain spawning where there is no fork.

Both launch a process that serves one socket, and reap it. A launcher is used by one thread at a time.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import resumption
from resumption.errors import EnvironmentBroken, WorkerLost
from resumption.worker.channel import Channel

__all__ = ["Launched", "Launcher", "Spawner", "Zygote", "can_fork"]

_ANSWER_SECONDS = 60.0
_IMPORT_SECONDS = 180.0
_MESSAGE = 1 << 20


@dataclass(frozen=True, slots=True)
class Launched:
    """A worker process that runs: its identity, and the channel to it."""

    pid: int
    channel: Channel


class Launcher(Protocol):
    """Starts and reaps worker processes."""

    def launch(self, log: Path) -> Launched:
        """Start a process whose standard output and error go to `log`."""

    def kill(self, pid: int) -> None:
        """SIGKILL a process that this launcher started and that wasn't reaped yet."""

    def reap(self, pid: int) -> int:
        """Wait for the end of a process: its exit code, or minus the signal that killed it."""


def can_fork() -> bool:
    """Whether this platform has what the zygote needs: fork, and watching a child by descriptor."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")


def _bootstrap(module: str, call: str) -> list[str]:
    """Arguments that run `call` of a worker module with this package importable, and nothing beside it."""
    package = Path(resumption.__file__).parent
    load = (
        "import sys, importlib.machinery, importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('resumption', {str(package / '__init__.py')!r},"
        f" submodule_search_locations=[{str(package)!r}])\n"
        "sys.modules['resumption'] = module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        f"from {module} import {call.split('(')[0]}\n{call}"
    )
    return ["-c", load]


class Zygote:
    """A process that has imported a framework, and forks from there.

    Use as a context manager, or `close` it: closing ends it and every process that it forked.
    """

    def __init__(self, control: socket.socket, process: subprocess.Popen[bytes] | None = None) -> None:
        self._control = control
        self._control.settimeout(_ANSWER_SECONDS)
        self._process = process
        self._exits: dict[int, int] = {}

    @classmethod
    def start(
        cls,
        python: Path,
        preload: Sequence[str],
        environment: Mapping[str, str],
        workspace: Path,
        temporary: Path | None = None,
    ) -> Zygote:
        """Start a zygote that works, and has its log, in the folder `workspace`.

        The zygote removes the folder `temporary` when it ends, so that none is left even if this process is killed.
        Raises `EnvironmentBroken` if the framework can't be imported in this environment.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        remove = str(temporary) if temporary else ""
        call = f"main({theirs.fileno()}, {remove!r}, {list(preload)!r})"
        with theirs, (workspace / "zygote.log").open("ab") as log:
            process = subprocess.Popen(
                [str(python), "-s", *_bootstrap("resumption.worker.zygote", call)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=workspace,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        zygote = cls(ours, process)
        try:
            ours.settimeout(_IMPORT_SECONDS)
            said = zygote._receive()
            ours.settimeout(_ANSWER_SECONDS)
        except (WorkerLost, TimeoutError):
            said = {"broken": f"the interpreter {python} ended or hung before it had imported anything"}
        if "broken" in said:
            zygote.close()
            raise EnvironmentBroken(
                f"{' and '.join(preload) or 'The worker'} can't be imported: {said['broken']}.",
                advice="Install the framework, or repair its installation, and run again.",
            )
        return zygote

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def clone(self) -> Zygote:
        """Fork a second zygote, for another thread."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._ask({"do": "clone"}, theirs)
        return Zygote(ours)

    def pins(self) -> dict[str, str]:
        """The version of every distribution installed in the environment, by its name in lower case."""
        self._send({"do": "pins"})
        pins: dict[str, str] = self._await("pins")["pins"]
        return pins

    def launch(self, log: Path) -> Launched:
        """Fork a process."""
        ours, theirs = socket.socketpair()
        with theirs:
            pid = self._ask({"do": "fork", "log": str(log)}, theirs)
        return Launched(pid, Channel(ours))

    def kill(self, pid: int) -> None:
        """Have the zygote kill a process; the zygote can't mistake it for another one of the same number."""
        self._send({"do": "kill", "pid": pid})

    def reap(self, pid: int) -> int:
        """Wait until the zygote reports the end of a process."""
        while pid not in self._exits:
            said = self._await("exit")
            self._exits[said["exit"]] = said["status"]
        return self._exits.pop(pid)

    def close(self) -> None:
        """End the zygote and all that it forked. May be called while another thread waits for it, which then fails."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        if self._process is not None:
            try:
                self._process.wait(_ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()

    def _ask(self, message: dict[str, Any], theirs: socket.socket) -> int:
        self._send(message, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))])
        said = self._await("pid", "threads")
        if "threads" in said:
            raise WorkerLost(
                f"The framework runs {said['threads']} threads after import, so that it can't be forked safely.",
                advice="Set RESUMPTION_SPAWN=1 to start each process anew.",
            )
        pid: int = said["pid"]
        return pid

    def _await(self, *words: str) -> dict[str, Any]:
        """Receive until a message holds one of `words`; exits of children may come in between."""
        while True:
            said = self._receive()
            if not said.keys().isdisjoint(words):
                return said
            self._exits[said["exit"]] = said["status"]

    def _send(self, message: dict[str, Any], ancillary: Sequence[Any] = ()) -> None:
        try:
            self._control.sendmsg([json.dumps(message).encode()], ancillary)
        except OSError as error:
            raise self._lost() from error

    def _receive(self) -> dict[str, Any]:
        try:
            data = self._control.recv(_MESSAGE)
        except OSError as error:
            raise self._lost() from error
        if not data:
            raise self._lost()
        said: dict[str, Any] = json.loads(data)
        return said

    @staticmethod
    def _lost() -> WorkerLost:
        return WorkerLost("The zygote went away.", advice="Its log is in the workspace; `--keep` keeps that.")


class Spawner:
    """Starts every process from nothing, where fork is not to be had. Slow, and otherwise alike."""

    def __init__(self, python: Path, environment: Mapping[str, str], workspace: Path) -> None:
        self._python = python
        self._environment = environment
        self._workspace = workspace
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def launch(self, log: Path) -> Launched:
        """Start an interpreter that serves one socket."""
        ours, theirs = socket.socketpair()
        call = f"serve_descriptor({theirs.fileno()})"
        with theirs, log.open("ab") as output:
            process = subprocess.Popen(
                [str(self._python), "-s", *_bootstrap("resumption.worker.process", call)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._workspace,
                env={**os.environ, **self._environment},
                start_new_session=True,
            )
        self._processes[process.pid] = process
        return Launched(process.pid, Channel(ours))

    def kill(self, pid: int) -> None:
        """Kill a process."""
        self._processes[pid].kill()

    def reap(self, pid: int) -> int:
        """Wait for the end of a process."""
        return self._processes.pop(pid).wait()

    def close(self) -> None:
        """Kill what still runs."""
        for process in self._processes.values():
            process.kill()
            process.wait()
        self._processes.clear()
