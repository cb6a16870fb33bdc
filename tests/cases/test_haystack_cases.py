"""A failure of Haystack that its users reported in public: a standalone program, in two releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from standalone.programs import interpreter, run

_PROGRAM = "haystack_ai/added_component.py"

pytestmark = pytest.mark.slow


def test_12672_a_component_that_was_added_since_the_snapshot_never_runs_in_silence(tmp_path: Path) -> None:
    assert run(interpreter("haystack-ai", "3.1.1"), _PROGRAM, home=tmp_path) == {"ran": ["b"], "refused": ""}


def test_12672_is_corrected_by_3_4_1_which_refuses_the_snapshot(tmp_path: Path) -> None:
    seen = run(interpreter("haystack-ai", "3.4.1"), _PROGRAM, home=tmp_path)
    assert seen == {"ran": [], "refused": "PipelineInvalidPipelineSnapshotError"}
