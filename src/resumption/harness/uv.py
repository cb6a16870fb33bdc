"""The client of uv, the tool that resolves and makes isolated environments.

Its failures are one typed error that says what kind of failure it was. Addresses of package indexes are taken out of
what uv said, because errors are pasted into public issues and a private index is nobody's business there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from resumption.errors import EnvironmentUnavailable

__all__ = ["run", "shown"]

_ADDRESS = re.compile(r"\w+://[^\s`'\")]+")
_MOST_LINES = 12

# Variables that would let the environment which runs the harness reach into the one that uv makes, or keep its bytecode
# from being compiled (an uncompiled LangGraph takes seconds to import).
_REMOVED = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")

# The first entry with a word that uv said is the advice.
_ADVICE = (
    (
        ("hash mismatch",),
        "A file is not the one that was locked. Clear uv's cache, and find out who serves another file.",
    ),
    (
        ("no interpreter found", "python interpreter"),
        "Give `--python` an interpreter that is installed here.",
    ),
    (
        ("failed to fetch", "error sending request", "network", "dns error", "timed out"),
        "Check the network and uv's index settings. Environments made before need no network.",
    ),
    (
        ("no version of", "not found in the package registry", "unsatisfiable"),
        "Check name and version: it may never have been released, have been withdrawn, or be missing on your index.",
    ),
)
_OTHERWISE = "Run again with RUST_LOG=uv=debug set if that does not say enough."


def run(arguments: Sequence[str], *, purpose: str, folder: Path, text: str = "") -> str:
    """Run uv in `folder`, hand it `text` as standard input, and return what it prints.

    Raises `EnvironmentUnavailable`, which begins with `purpose`, if there is no uv or it fails.
    """
    command = [*_command(), *arguments]
    variables = {name: value for name, value in os.environ.items() if name not in _REMOVED}
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=folder, env=variables, check=False)
    if done.returncode != 0:
        said = shown(done.stderr)
        raise EnvironmentUnavailable(f"{purpose} failed. uv said:\n{said}\n", advice=_advice(said))
    return done.stdout


def shown(said: str) -> str:
    """The end of what uv said, without addresses."""
    lines = [line for line in said.splitlines() if line.strip()]
    return _ADDRESS.sub("(address)", "\n".join(lines[-_MOST_LINES:]))


def _command() -> list[str]:
    """How to call uv: from the path, from beside this interpreter, or as the installed package `uv`."""
    places = [os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    found = shutil.which("uv", path=os.pathsep.join(places))
    if found:
        return [found]
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    raise EnvironmentUnavailable(
        "An environment of its own needs uv, which is not to be found.",
        advice="Install it, for instance as the extra `environments`, or leave the version away to use"
        " the installed framework.",
    )


def _advice(said: str) -> str:
    lowered = said.lower()
    return next((advice for words, advice in _ADVICE if any(word in lowered for word in words)), _OTHERWISE)
