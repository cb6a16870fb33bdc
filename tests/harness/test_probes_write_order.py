"""Withheld writes: what runs or is stored before that which it builds on is durable, on each path of LangGraph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from resumption.contract.verdicts import Measured
from resumption.harness.kill_points import withheld
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Part, Receipt
from resumption.harness.runner import run_suite
from resumption.history.events import Crash, Persist, Phase
from resumption.history.history import Header, History
from resumption.history.ndjson import decode_history
from resumption.history.workload import Task, Workload
from resumption.planes.registry import specs
from resumption.worker.faults import INFEASIBLE, Fault, Mode

Once = Callable[[str, Callable[[], Receipt]], Receipt]

_PATHS = ("graph", "functional", "graph-async-durability", "graph-exit-durability")
_FIRED_AGAIN = "effect `a` of task `a` fired again on branch b0"
_EMPTY_INPUT = "the last attempt to bring the run on branch b0 to its end raised EmptyInputError"


@pytest.fixture
def parts(once: Once) -> Callable[[str], Part]:
    """Return what the probe found in a cell of recovery without input, named by path and property."""
    planes = [
        replace(spec, backends=tuple(backend for backend in spec.backends if backend.name == "sqlite"))
        for spec in specs("langgraph")
        if spec.path in _PATHS
    ]
    probes = [probe for probe in PROBES if probe.address == "crash/write-order"]
    receipt = once("write-order", lambda: run_suite(planes, probes, jobs=4))
    found = {cell.identity: cell.parts[0] for cell in receipt.cells}

    def part(path: str, property_: str, facet: str = "") -> Part:
        return found["/".join(filter(None, ("langgraph", path, "sqlite", property_, "recover/no-input", facet)))]

    return part


# The probe on LangGraph ---------------------------------------------------------------------------------------------


def test_a_graph_starts_no_task_before_the_record_of_the_one_before_is_durable(parts):
    assert parts("graph", "EO", "window").measured is Measured.UNEXERCISED
    assert parts("graph", "EO").measured is Measured.CONFORMS
    assert parts("graph", "LV").measured is Measured.CONFORMS


def test_an_entrypoint_starts_a_task_before_the_record_of_the_one_before_is_durable(parts):
    found = parts("functional", "EO", "window")
    assert found.measured is Measured.BREACHES
    assert any(finding.summary.startswith(_FIRED_AGAIN) for finding in found.findings)


def test_an_entrypoint_records_a_task_before_its_input_is_durable(parts):
    assert _EMPTY_INPUT in {finding.summary for finding in parts("functional", "LV").findings}


def test_asynchronous_durability_loses_what_is_on_record_with_the_checkpoint_it_belongs_to(parts):
    found = parts("graph-async-durability", "EO")
    assert found.measured is Measured.BREACHES
    # Which task it is depends on what the background threads had stored.
    assert all("fired again on branch b0, though its first fire" in finding.summary for finding in found.findings)


def test_durability_at_exit_leaves_nothing_to_recover_a_first_run_from(parts):
    assert _EMPTY_INPUT in {finding.summary for finding in parts("graph-exit-durability", "LV").findings}
    assert parts("graph-exit-durability", "EO", "window").measured is Measured.BREACHES


def test_the_withheld_operation_is_never_durable(once, parts):
    parts("graph", "EO")
    histories = [decode_history(text.encode()) for text in once("write-order", pytest.fail).histories.values()]
    withheld_in = [
        (history, crash.point.partition(" without ")[2])
        for history in histories
        for crash in history.of(Crash)
        if " without " in crash.point and not crash.point.endswith(INFEASIBLE)
    ]
    assert len(withheld_in) >= 8
    for history, operation in withheld_in:
        ended = {end.name for end in history.of(Persist) if end.process == 1 and end.phase is Phase.END}
        assert operation not in ended


# Enumeration --------------------------------------------------------------------------------------------------------


def _history(*operations: tuple[str, tuple[str, ...]]) -> History:
    workload = Workload((Task("a"), Task("b"), Task("c")))
    header = Header(probe="", plane="", path="", backend="", form="", workload=workload)
    events = tuple(
        Persist(process=1, phase=Phase.BEGIN, item=f"p1-{number}", name=name, covers=covers)
        for number, (name, covers) in enumerate(operations)
    )
    return History(header, events)


def test_an_operation_is_withheld_from_the_next_record_and_a_tasks_first_record_from_the_next_task():
    history = _history(("input", ()), ("writes a", ("a",)), ("state a", ("a",)), ("writes c", ("c",)))
    assert [(fault.first, fault.point) for fault in withheld(history)] == [
        ("input", "persist:writes a:after"),
        ("writes a", "persist:state a:after"),
        ("writes a", "task:b:start"),
        ("state a", "persist:writes c:after"),
    ]


def test_an_operation_whose_name_comes_twice_is_not_withheld_or_waited_for():
    assert withheld(_history(("task", ("a",)), ("task", ("b",)), ("end", ("c",)))) == ()


def test_a_crash_with_a_withheld_operation_is_named_by_both():
    fault = Fault("task:b:start", Mode.WITHHOLD, first="writes a")
    assert fault.name == "task:b:start without writes a"
