"""A failure of the OpenAI Agents SDK that its users reported in public: a standalone program, in two releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from standalone.programs import interpreter, run

_PROGRAM = "openai_agents/approval_with_context.py"

pytestmark = pytest.mark.slow


def test_4244_an_approved_run_that_is_given_a_context_again_asks_again_and_never_pays(tmp_path: Path) -> None:
    seen = run(interpreter("openai-agents", "0.19.4"), _PROGRAM, home=tmp_path)
    assert seen == {"without": {"paid": 1, "asked again": 0}, "with": {"paid": 0, "asked again": 1}}


def test_4244_is_corrected_by_0_24(tmp_path: Path) -> None:
    seen = run(interpreter("openai-agents", "0.24.0"), _PROGRAM, home=tmp_path)
    assert seen == {"without": {"paid": 1, "asked again": 0}, "with": {"paid": 1, "asked again": 0}}
