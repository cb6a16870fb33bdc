"""Failures of LlamaIndex Workflows that were reported in public or found here, measured on its releases."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from resumption.harness.installations import isolated
from resumption.harness.locks import read_recipe
from resumption.planes.llamaindex.spec import TWO_STEP

PARALLEL_WAITS = """
import asyncio

from workflows import Context, Workflow, step
from workflows.errors import WorkflowTimeoutError
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent


class Call(Event):
    tool: str


class Called(Event):
    tool: str


class Tools(Workflow):
    @step
    async def plan(self, ctx: Context, ev: StartEvent) -> Call | None:
        for tool in ("left", "right"):
            ctx.send_event(Call(tool=tool))

    @step
    async def call(self, ctx: Context, ev: Call) -> Called:
        await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(tool=ev.tool))
        return Called(tool=ev.tool)

    @step
    async def join(self, ctx: Context, ev: Called) -> StopEvent | None:
        called = ctx.collect_events(ev, [Called] * 2)
        return StopEvent(result=[each.tool for each in called]) if called else None


async def main():
    handler = Tools(timeout=2).run()
    asked = 0
    try:
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                asked += 1
                handler.ctx.send_event(HumanResponseEvent(response="yes"))
        print(asked, await handler)
    except WorkflowTimeoutError:
        print(asked, "timed out")


asyncio.run(main())
"""
"""Two branches that wait for an approval at once, neither of which names its waiter, as in the report."""


FINDINGS = Path(__file__).parents[2] / "docs" / "findings"
IN_FLIGHT = "llamaindex-a-snapshot-loses-events-on-their-way.md"
RESTORED_WAITER = "llamaindex-a-restored-waiter-takes-any-answer.md"
TWICE = "llamaindex-answers-while-live.md"
RELEASES = tuple(read_recipe(TWO_STEP).releases)


def _told(python: Path | str) -> str:
    run = subprocess.run([str(python), "-c", PARALLEL_WAITS], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def _error_of(page: str, python: Path) -> str:
    """Run the program of a finding's page, and return the last line of what it has to complain of."""
    (program,) = re.findall(r"```python\n(.*?)```", (FINDINGS / page).read_text(encoding="utf-8"), re.DOTALL)
    run = subprocess.run([str(python), "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1)
    return run.stderr.strip().splitlines()[-1] if run.returncode else ""


def test_22070_each_of_two_branches_that_wait_without_a_name_is_asked_and_resumes() -> None:
    pytest.importorskip("workflows")
    assert _told(sys.executable) == "2 ['left', 'right']"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "told"),
    [("2.14.2", "1 timed out"), ("2.22.2", "2 ['left', 'right']"), ("2.26.1", "2 ['left', 'right']")],
)
def test_22070_is_broken_in_older_releases(release: str, told: str) -> None:
    assert _told(isolated(TWO_STEP, release).python) == told


@pytest.mark.slow
@pytest.mark.parametrize("page", [RESTORED_WAITER, TWICE])
@pytest.mark.parametrize("release", RELEASES)
def test_what_was_found_is_so_in_every_release(release: str, page: str) -> None:
    assert _error_of(page, isolated(TWO_STEP, release).python) == ""


@pytest.mark.slow
@pytest.mark.parametrize(("release", "lost"), [("2.14.2", True), ("2.22.2", True), ("2.26.1", False)])
def test_events_on_their_way_are_lost_from_the_snapshots_of_older_releases(release: str, lost: bool) -> None:
    error = _error_of(IN_FLIGHT, isolated(TWO_STEP, release).python)
    assert error.startswith("workflows.errors.WorkflowTimeoutError") if lost else error == ""
