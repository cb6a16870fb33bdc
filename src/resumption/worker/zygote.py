"""The zygote: imports a framework once; each process of a protocol is a fork of it.

It speaks with the harness over one sequenced-packet socket. `fork` comes with the child's own socket; every child that
ends is reported with its status. `clone` makes a second zygote, which has the framework loaded already. The zygote has
one thread, holds nothing open at a fork, and ends when the harness's end of the socket closes, however the harness
ended: it then kills its children and removes the workspace, unless that is to be kept.
"""

from __future__ import annotations

import array
import ctypes
import gc
import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
import traceback
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from resumption.history.ndjson import make_all_decoders
from resumption.worker.process import serve

__all__ = ["main"]

_MESSAGE = 65536
_PR_SET_PDEATHSIG = 1
_THREADS = "/proc/self/task"
_THREAD_SECONDS = 1.0
_SWEEPS = 3  # a clone's children die a moment after it, and may make a file while the folder is being removed


def main(control: int, workspace: str, preload: list[str]) -> None:
    """Run a zygote on the control socket with descriptor `control`; doesn't return.

    `workspace` is the folder to remove at the end; empty if it is to be kept. `preload` names modules to import, and
    functions to call, as `module:function`.
    """
    sock = socket.socket(fileno=control)
    try:
        for name in preload:
            _load(name)
    except BaseException as error:
        # Whatever an import raises, a broken installation included, is for the harness to tell.
        sock.send(json.dumps({"broken": "".join(traceback.format_exception_only(error)).strip()[-2000:]}).encode())
        sys.exit(1)
    make_all_decoders()
    gc.collect()
    gc.freeze()
    sock.send(json.dumps({"ready": os.getpid()}).encode())
    _Zygote(sock, Path(workspace) if workspace else None).run()


def _load(name: str) -> None:
    module, _, function = name.partition(":")
    loaded = importlib.import_module(module)
    if function:
        getattr(loaded, function)()
        _outlive_threads()


def _outlive_threads() -> None:
    """Return once ended threads are gone for the kernel too, which is a moment after they were joined.

    One that is still there then was left running, and the first fork will refuse.
    """
    deadline = time.monotonic() + _THREAD_SECONDS
    while len(os.listdir(_THREADS)) > 1 and time.monotonic() < deadline:
        os.sched_yield()


def _pins() -> dict[str, str]:
    """The versions of every distribution that is installed beside the framework."""
    return {dist.metadata["Name"].lower(): dist.version for dist in metadata.distributions()}


class _Zygote:
    def __init__(self, control: socket.socket, workspace: Path | None) -> None:
        self._control = control
        self._workspace = workspace
        self._children: dict[int, int] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)

    def run(self) -> NoReturn:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    self._serve()
                else:
                    self._reap(key.fd)

    def _serve(self) -> None:
        try:
            data, ancillary, _, _ = self._control.recvmsg(_MESSAGE, socket.CMSG_SPACE(4))
        except ConnectionResetError:
            data, ancillary = b"", []
        if not data:
            self._end()
        message = json.loads(data)
        if message["do"] == "pins":
            self._tell({"pins": _pins()})
            return
        if message["do"] == "kill":
            self._kill(message["pid"])
            return
        descriptor = array.array("i", ancillary[0][2])[0]
        threads = len(os.listdir(_THREADS))
        if threads != 1:
            os.close(descriptor)
            self._tell({"threads": threads})
            return
        self._fork(message, descriptor)

    def _fork(self, message: dict[str, Any], descriptor: int) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become_child(parent, message, descriptor, self._control)
        os.close(descriptor)
        watch = os.pidfd_open(pid)
        self._children[watch] = pid
        self._selector.register(watch, selectors.EVENT_READ)
        self._tell({"pid": pid})

    def _kill(self, pid: int) -> None:
        # A child stays a zombie until this loop reaps it, so that its number can't belong to another process yet.
        if pid in self._children.values():
            os.kill(pid, signal.SIGKILL)

    def _reap(self, watch: int) -> None:
        self._selector.unregister(watch)
        os.close(watch)
        pid = self._children.pop(watch)
        _, status = os.waitpid(pid, 0)
        self._tell({"exit": pid, "status": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            self._control.send(json.dumps(message).encode())
        except OSError:
            self._end()

    def _end(self) -> NoReturn:
        for pid in self._children.values():
            os.kill(pid, signal.SIGKILL)
        if self._workspace:
            for _ in range(_SWEEPS):
                shutil.rmtree(self._workspace, ignore_errors=True)
        os._exit(0)


def _become_child(parent: int, message: dict[str, Any], descriptor: int, control: socket.socket) -> NoReturn:
    """Become a process of a protocol, or a second zygote, on the socket given. Never returns to the zygote's loop."""
    status = 1
    try:
        control.close()
        _die_with(parent)
        if message["do"] == "clone":
            _Zygote(socket.socket(fileno=descriptor), None).run()
        log = os.open(message["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        serve(socket.socket(fileno=descriptor))
        status = 0
    except BaseException:
        # A child must never go on as a second zygote by unwinding; its error goes to its log.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, even by SIGKILL."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
