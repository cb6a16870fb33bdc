"""Stop a pipeline at a breakpoint, and resume its snapshot with a pipeline that got one more component since."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from typing import Any

from haystack import Pipeline, component
from haystack.core.errors import BreakpointException
from haystack.dataclasses.breakpoints import Breakpoint, PipelineSnapshot

ran: list[str] = []


def step(name: str) -> Any:
    @component
    class Step:
        @component.output_types(value=str)
        def run(self, value: str) -> dict[str, str]:
            ran.append(name)
            return {"value": value + name}

    return Step()


def pipeline(*names: str) -> Pipeline:
    built = Pipeline()
    for name in names:
        built.add_component(name, step(name))
    for before, after in pairwise(names):
        built.connect(f"{before}.value", f"{after}.value")
    return built


def snapshot() -> dict[str, Any]:
    try:
        pipeline("a", "b").run({"a": {"value": ""}}, break_point=Breakpoint("b", 0))
    except BreakpointException as stopped:
        kept: dict[str, Any] = json.loads(json.dumps(stopped.pipeline_snapshot.to_dict()))
        return kept
    raise AssertionError("the breakpoint was passed")


kept = snapshot()
ran.clear()
try:
    pipeline("a", "b", "c").run(data={}, pipeline_snapshot=PipelineSnapshot.from_dict(kept))
    refused = ""
except Exception as error:
    refused = type(error).__name__
sys.stdout.write(json.dumps({"ran": ran, "refused": refused}))
