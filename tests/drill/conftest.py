"""Drills of the programs beside these tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.checkpoint.sqlite")

from resumption.harness.drill.decisions import Decisions
from resumption.harness.drill.engine import Drilled, drill
from resumption.harness.drill.request import Request

PROGRAMS = Path(__file__).parent

Drill = Callable[..., Drilled]


@pytest.fixture
def run_drill() -> Drill:
    """Drill a program of a module beside these tests."""

    def run(program: str, *effects: str, guarded: bool = False, only: Any = lambda _: True, **options: Any) -> Drilled:
        module = program.partition(":")[0]
        request = Request(
            target=f"programs.{program}",
            effects=tuple(f"programs.{module}:{name}" for name in effects),
            **{"input": {}, "decisions": Decisions(everywhere="yes"), "folder": str(PROGRAMS), **options},
        )
        return drill(request, jobs=2, ways=(guarded,), only=only)[0]

    return run
