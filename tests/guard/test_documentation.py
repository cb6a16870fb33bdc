"""The code blocks of docs/effects.md run, in order, in one program."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from resumption import Ledger
from resumption.cli import main

from .support import child

PAGE = (Path(__file__).parents[2] / "docs" / "effects.md").read_text()


def run_blocks(folder: Path, blocks: list[str], *, check: str) -> None:
    """Run these blocks as one program, in a process of its own."""
    (folder / "page.py").write_text("\n".join([*blocks, check]))

    def run() -> None:
        sys.path.insert(0, str(folder))
        __import__("page")

    assert child(run).wait() == 0


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_python_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [block for block in BLOCKS if "langgraph" not in block]
    assert len(blocks) == 3
    run_blocks(tmp_path, blocks, check="assert charge('a') == charge('a') == pay('a') == pay('a') == 'receipt-a'\n")


def test_the_block_about_langgraph_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langgraph.graph")
    monkeypatch.chdir(tmp_path)
    (block,) = [block for block in BLOCKS if "langgraph" in block]
    run_blocks(tmp_path, [BLOCKS[0], block], check="assert graph.invoke({'order': '8'})['receipt'] == 'receipt-8'\n")


def test_the_commands_exist_with_their_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runs up to the answer of the ledger, which knows none of the keys."""
    monkeypatch.chdir(tmp_path)
    Ledger("sqlite:///effects.db").setup()
    lines = re.findall(r"^\$ resumption ledger (.*)$", PAGE, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        result = CliRunner().invoke(main, ["ledger", *shlex.split(line)])
        assert result.exit_code == 0 or "RSM-411" in result.output, result.output
