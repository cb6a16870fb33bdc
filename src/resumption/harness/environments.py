"""An environment at work: the launchers of the worker processes that run where a framework is installed."""

from __future__ import annotations

import os
import queue
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path

from resumption.harness.installations import INSTALLED, Installation
from resumption.harness.zygote import Launcher, Spawner, Zygote, can_fork
from resumption.planes.interface import PlaneSpec

__all__ = ["Environment"]

_SPAWN = "RESUMPTION_SPAWN"


class Environment:
    """One installation of a framework, with one launcher for each job that may run at once.

    The framework is imported once, by the first zygote; the others are forks of it. The folder `temporary` is removed
    when the environment is closed, or when this process dies.
    """

    def __init__(
        self,
        spec: PlaneSpec,
        workspace: Path,
        jobs: int,
        installation: Installation = INSTALLED,
        temporary: Path | None = None,
    ) -> None:
        self._exit = ExitStack()
        self._idle: queue.SimpleQueue[Launcher] = queue.SimpleQueue()
        preload = [*spec.preload, spec.adapter]
        variables = {**spec.environment, **installation.variables, "PYTHONHASHSEED": "0"}
        if not installation.version and sys.dont_write_bytecode and not _is_compiled(spec.package):
            bytecode = workspace / "bytecode"
            self._exit.callback(shutil.rmtree, bytecode, ignore_errors=True)
            # Else each interpreter that is started would compile the framework anew, which takes seconds.
            variables |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(bytecode)}
        python = installation.python
        self._spawn = partial(Spawner, python, variables, workspace)
        # Even where every process is spawned, a zygote first tells whether the framework can be imported, and its pins.
        first = Zygote.start(python, preload, variables, workspace, temporary)
        self._exit.callback(first.close)
        self.pins = first.pins()
        if can_fork() and not os.environ.get(_SPAWN):
            self._idle.put(first)
            for _ in range(jobs - 1):
                clone = first.clone()
                self._exit.callback(clone.close)
                self._idle.put(clone)
        else:
            for _ in range(jobs):
                spawner = self._spawn()
                self._exit.callback(spawner.close)
                self._idle.put(spawner)

    @contextmanager
    def launcher(self) -> Iterator[Launcher]:
        """Borrow a launcher for one job."""
        launcher = self._idle.get()
        try:
            yield launcher
        finally:
            self._idle.put(launcher)

    @contextmanager
    def spawner(self) -> Iterator[Launcher]:
        """Make a launcher whose processes are no forks: each is a fresh interpreter, which imports the framework."""
        with closing(self._spawn()) as spawner:
            yield spawner

    def close(self) -> None:
        """End every process of the environment."""
        self._exit.close()


def _is_compiled(package: str) -> bool:
    """Whether an interpreter finds the bytecode of what is installed beside the harness; also if nothing is."""
    try:
        files = metadata.files(package) if package else None
    except metadata.PackageNotFoundError:
        files = None
    sources = (file for file in files or () if file.suffix == ".py")
    return all(Path(cache_from_source(str(source.locate()))).exists() for source in sources)
