"""Every program and command that the documentation shows is run, and prints what is shown."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from snippets import PAGES, ROOT, Command, blocks, missing

from resumption.harness.postgres import ThrowawayPostgres

# What the programs of these pages take as given: the reader's own graph and saver.
_GIVEN = """
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

builder = StateGraph(dict)
builder.add_node("pay", lambda state: state)
builder.add_edge(START, "pay")
saver = InMemorySaver()
saver_of_your_own = BaseCheckpointSaver()
"""
_WITH_A_GRAPH = (Path("README.md"), Path("docs/guard.md"))

_WITH_POSTGRES = Path("docs/guides/postgresql.md")
_SIGNALLED = 128

_PREPARED = {
    # The page speaks of an effect whose owner died inside it.
    Path("docs/effects.md"): """
import os
from resumption import Ledger, effect

@effect(Ledger("sqlite:///effects.db"), key=lambda: "charge:42")
def charge():
    os._exit(0)

charge()
"""
}


_IN_THE_CLONE = ("python examples/", "resumption drill examples.", " results/")
"""What shows that a command is meant to be called in the folder of a clone, and writes nothing there."""


def _elsewhere(command: Command) -> bool:
    """Whether `.ci/run`, or a target that it makes, runs the command word for word."""
    own = command.line.startswith("resumption ") or command.line == "make check"
    return not own and any(
        command.line in (ROOT / file).read_text(encoding="utf-8") for file in (".ci/run", "Makefile")
    )


def _run(line: str, folder: Path, environment: dict[str, str], expected: int) -> str:
    if line == "make check":
        # What the target does once everything is installed, as it is here.
        *_, line = subprocess.check_output(
            ["make", "--no-print-directory", "--dry-run", "check"], cwd=ROOT, text=True
        ).splitlines()
        line = line.removeprefix(".venv/bin/")
    done = subprocess.run(
        shlex.split(line),
        cwd=ROOT if any(name in line for name in _IN_THE_CLONE) else folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    code = done.returncode if done.returncode >= 0 else _SIGNALLED - done.returncode  # as a shell tells it
    assert code == expected, f"{line}: {done.stderr}"
    return done.stdout


@pytest.fixture
def environment(page: Path) -> Iterator[dict[str, str]]:
    """The environment that a page takes as given: for one, a PostgreSQL server."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if page != _WITH_POSTGRES:
        yield {**os.environ, "PATH": path}
        return
    with ThrowawayPostgres() as server:
        yield {**os.environ, "PATH": path, "DATABASE_URL": server.dsn}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_shows_what_happens(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    if page in _PREPARED:
        subprocess.run([sys.executable, "-c", _PREPARED[page]], cwd=tmp_path, check=True)
    given = _GIVEN if page in _WITH_A_GRAPH else ""
    for block in blocks(page, "python"):
        if block.title:
            (tmp_path / block.title).write_text(block.body, encoding="utf-8")
    program = given + "\n".join(block.body for block in blocks(page, "python") if not block.title)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
    for command in (command for block in blocks(page, "console") for command in block.commands()):
        if _elsewhere(command):
            assert command.output == ()
        else:
            printed = _run(command.line, tmp_path, environment, command.code)
            assert missing(command.printed, printed) == ""
