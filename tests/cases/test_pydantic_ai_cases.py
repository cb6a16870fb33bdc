"""A failure of Pydantic AI that its users reported in public, as a standalone program."""

from __future__ import annotations

from pathlib import Path

import pytest
from standalone.programs import interpreter, run

pytestmark = pytest.mark.slow


def test_5536_an_approval_that_is_handed_over_again_runs_the_approved_tool_again(tmp_path: Path) -> None:
    seen = run(interpreter("pydantic-ai-slim", "2.68.0"), "pydantic_ai_slim/approval_twice.py", home=tmp_path)
    assert seen == {"paid": 2, "outputs": ["done", "done"]}
