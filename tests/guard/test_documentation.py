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


def test_the_python_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks) + "\nassert charge('a') == charge('a') == 'receipt-a'\n")

    def run() -> None:
        sys.path.insert(0, str(tmp_path))
        __import__("page")

    assert child(run).wait() == 0


def test_the_commands_exist_with_their_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runs up to the answer of the ledger, which knows none of the keys."""
    monkeypatch.chdir(tmp_path)
    Ledger("sqlite:///effects.db").setup()
    lines = re.findall(r"^\$ resumption ledger (.*)$", PAGE, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        result = CliRunner().invoke(main, ["ledger", *shlex.split(line)])
        assert result.exit_code == 0 or "RSM-411" in result.output, result.output
