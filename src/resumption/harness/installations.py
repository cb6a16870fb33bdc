"""Where frameworks are installed: beside the harness, or isolated, in environments that uv makes from a lock.

An isolated environment is made once and shared by all later runs of this user. It is built beside its final place and
renamed when it is whole, under a lock that the operating system frees if the builder dies; so a half-built one is never
used, and runs that want the same one at the same time build it once. This package is never installed there: worker
processes import it from where the harness has it, and nothing else of the harness.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resumption.errors import EnvironmentUnavailable, TargetUnreadable
from resumption.harness import uv
from resumption.harness.locks import Lock, find_lock
from resumption.planes.interface import PlaneSpec

__all__ = ["CACHE", "INSTALLED", "Installation", "cache_folder", "isolated"]

CACHE = "RESUMPTION_CACHE"
"""The environment variable that moves the cache."""

_KEY_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Installation:
    """An interpreter under which a framework can be imported."""

    python: Path
    version: str = ""
    """The release that was asked for; empty for what is installed beside the harness."""

    @property
    def name(self) -> str:
        """A name for folders: that of the isolated environment, or `installed`."""
        return self.python.parent.parent.name if self.version else "installed"

    @property
    def variables(self) -> dict[str, str]:
        """What worker processes need in their environment, so that an isolated one sees nothing but itself."""
        # Python takes an empty variable for an unset one.
        return {"PYTHONPATH": "", "PYTHONHOME": ""} if self.version else {}


INSTALLED = Installation(Path(sys.executable))
"""The environment that the harness itself runs in."""


@dataclass(frozen=True, slots=True)
class _Interpreter:
    """What an environment is made with."""

    path: Path
    version: str


def cache_folder() -> Path:
    """The folder for what is worth keeping between runs. It is made if it isn't there."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get(CACHE) or Path(home) / "resumption").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def isolated(
    spec: PlaneSpec, version: str, *, python: str = sys.executable, say: Callable[[str], None] = lambda _: None
) -> Installation:
    """Return the environment of a framework's release, made now if it isn't there yet.

    `python` is an interpreter's path or version. `say` is told what takes time or was resolved here. Raises
    `EnvironmentUnavailable` if it can't be made, `TargetUnreadable` for a plane that lives in this package.
    """
    if not spec.package:
        raise TargetUnreadable(f"{spec.name} is part of this package and has no versions.", advice="Leave `@` away.")
    cache = cache_folder()
    lock = find_lock(spec, version, cache)
    name = f"{spec.package} {version}"
    if not lock.committed:
        say(f"{name} has no committed lock: the set resolved on this machine is used, and stands in the receipt.")
    interpreter = _interpreter(python, cache)
    home = cache / "environments" / f"{spec.package}-{version}-py{interpreter.version}-{_key(lock, interpreter)}"
    executable = home / "bin" / "python"
    if not executable.exists():
        home.parent.mkdir(exist_ok=True)
        with _only_builder(home):
            if not executable.exists():  # another run may have built it meanwhile
                say(f"Installing {name} for Python {interpreter.version} …")
                _build(home, lock, interpreter, name)
    return Installation(executable, version)


def _interpreter(python: str, folder: Path) -> _Interpreter:
    purpose = f"Finding the Python {python}"
    found = Path(uv.run(["python", "find", "--no-python-downloads", python], purpose=purpose, folder=folder).strip())
    asked = subprocess.run(
        [found, "-I", "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        raise EnvironmentUnavailable(
            f"{purpose} failed: the interpreter ended with {asked.returncode}.", advice="Give another with `--python`."
        )
    # The interpreter below a virtual environment outlives it.
    return _Interpreter(found.resolve(), asked.stdout.strip())


def _key(lock: Lock, interpreter: _Interpreter) -> str:
    # The path too: two interpreters of one version can bring different SQLite libraries.
    return hashlib.sha256(f"{lock.digest} {interpreter.path}".encode()).hexdigest()[:_KEY_DIGITS]


@contextmanager
def _only_builder(home: Path) -> Iterator[None]:
    """Exclude other builders of `home`; waits for one that is at work."""
    import fcntl  # POSIX only, and whoever merely lists or explains needs none of it

    with home.with_name(f"{home.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(home: Path, lock: Lock, interpreter: _Interpreter, name: str) -> None:
    """Make the environment, in place of one whose interpreter went away if there is one."""
    building = home.with_name(f"{home.name}.building")
    for remains in (building, home):
        if remains.exists():
            shutil.rmtree(remains)
    uv.run(
        ["venv", "--quiet", "--relocatable", "--no-project", "--python", str(interpreter.path), str(building)],
        purpose=f"Making an environment for {name}",
        folder=home.parent,
    )
    requirements = building / "requirements.txt"
    requirements.write_text(lock.text, encoding="utf-8")
    install = ["pip", "install", "--quiet", "--require-hashes", "--compile-bytecode", "--requirements"]
    uv.run(
        [*install, str(requirements), "--python", str(building / "bin" / "python")],
        purpose=f"Installing {name}",
        folder=home.parent,
    )
    building.rename(home)
