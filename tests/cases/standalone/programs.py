"""How a standalone program is run: with the interpreter of an environment of its own, made from its lock."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from resumption.harness.installations import isolated
from resumption.planes.interface import PlaneSpec

__all__ = ["interpreter", "run"]

_FOLDER = Path(__file__).parent
_QUIET = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OTEL_SDK_DISABLED": "true",
}


def interpreter(package: str, version: str) -> Path:
    """The interpreter of an environment with a release of a distribution, from the lock beside its programs."""
    folder = package.replace("-", "_")
    # Environments are made for planes; of a plane, making one reads the distribution and where the locks are.
    named = PlaneSpec(
        name=package, package=package, path="", adapter=f"standalone.{folder}.locks", backends=(), forms=()
    )
    return isolated(named, version).python


def run(python: Path, program: str, *arguments: str, home: Path, killed: bool = False) -> Any:
    """Run a program with an interpreter, and return what it wrote; None for one that was to be killed, and was.

    Raises `AssertionError`, with the program's errors, if it ended otherwise.
    """
    variables = {"PATH": os.environ["PATH"], "HOME": str(home), **_QUIET}
    done = subprocess.run(
        [python, _FOLDER / program, *arguments], capture_output=True, text=True, check=False, env=variables, cwd=home
    )
    if killed:
        assert done.returncode == -9, done.stderr
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
