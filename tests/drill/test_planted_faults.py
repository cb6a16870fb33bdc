"""Each planted fault is found and named; what has none is clean."""

from __future__ import annotations

from typing import Any

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Label
from resumption.harness.drill.engine import Drilled
from resumption.harness.drill.findings import Breach
from resumption.harness.drill.protocols import Action
from resumption.harness.drill.verdicts import cells_of


def _found(drilled: Drilled) -> dict[tuple[Breach, str], list[str]]:
    """Where each breach was found; `twin` stands for a run without faults."""
    found: dict[tuple[Breach, str], list[str]] = {}
    for one in drilled.in_twin:
        found.setdefault((one.breach, one.subject), []).append("twin")
    for outcome in drilled.outcomes:
        for one in outcome.found:
            if not one.documented:
                found.setdefault((one.breach, one.subject), []).append(outcome.protocol.name)
    return found


def _problems(drilled: Drilled) -> list[str]:
    return [f"{outcome.protocol.name}: {outcome.problem}" for outcome in drilled.outcomes if outcome.problem]


@pytest.mark.parametrize(
    ("program", "input_", "breach", "subject", "where"),
    [
        (
            "duplicate_in_a_loop",
            {"items": ["a", "b", "c"]},
            Breach.FIRES_AGAIN,
            "charge in pay",
            "crash/effect:charge:after~2/no-input",
        ),
        # Which of the two branches is the first to fire is chance: one of them is lost.
        ("lost_branch", {}, Breach.LOST, "charge in left|charge in right", "crash/effect:charge:before/no-input"),
        ("key_of_thread_and_node", {"items": ["a", "b"]}, Breach.SWALLOWED, "pay", "fork/pay@1/replay"),
        ("effect_before_the_interrupt", {}, Breach.FIRES_AGAIN, "charge in pay", "twin"),
        ("invalid_state", {}, Breach.INVALID_STATE, "names", "twin"),
        ("swallowed_second_answer", {}, Breach.SWALLOWED, "ask", "fork/ask@1/replay"),
        ("looks_and_then_acts", {}, Breach.FIRES_AGAIN, "charge in pay", "race/pay@1/map"),
        ("functional", {}, Breach.FIRES_AGAIN, "charge in functional/_send", "crash/effect:charge:after~2/no-input"),
        ("breakpoint_before", {}, Breach.FIRES_AGAIN, "charge in pay", "crash/effect:charge:after/no-input"),
        ("state_in_memory", {}, Breach.OTHER_STATE, "final state", "handover/every-gate/map"),
        ("cannot_run_twice", {}, Breach.STUCK, "run", "crash/effect:charge:before/no-input"),
    ],
)
def test_a_planted_fault_is_found_and_named(
    run_drill: Any, program: str, input_: Any, breach: Breach, subject: str, where: str
) -> None:
    drilled = run_drill(f"faulty:{program}", "charge", input=input_)
    found = _found(drilled)
    assert _problems(drilled) == []
    assert where in [place for one in subject.split("|") for place in found.get((breach, one), [])], found
    assert Label.VIOLATES in {cell.label for cell in cells_of(drilled)}


@pytest.mark.parametrize(
    ("program", "effect", "options"),
    [
        ("provider_key", "send", {"keys": {"send": "idempotency_key"}}),
        ("ledgered", "send", {"keys": {"send": "idempotency_key"}}),
        ("verified", "enter", {"real_effects": True}),
    ],
)
def test_a_sound_program_is_clean(run_drill: Any, program: str, effect: str, options: Any) -> None:
    drilled = run_drill(f"sound:{program}", effect, **options)
    assert _found(drilled) == {}
    assert _problems(drilled) == []
    assert {outcome.protocol.action for outcome in drilled.outcomes} == set(Action)
    assert {cell.label for cell in cells_of(drilled)} <= {Label.HOLDS, Label.DIVERGENT}


def test_loops_subgraphs_parallel_gates_and_an_async_saver_give_every_gate_and_no_false_finding(run_drill: Any) -> None:
    drilled = run_drill("sound:many", "send", keys={"send": "idempotency_key"})
    names = [answered.gate.name for answered in drilled.twin.answered]
    assert names == ["review", "review#2", "closing/confirm"] * 2
    assert drilled.twin.answered[0].gate.question == {"review": "a"}
    assert drilled.twin.answered[0].pending == 2
    assert drilled.way.asynchronous
    assert _found(drilled) == {}
    assert _problems(drilled) == []


def test_a_doubt_that_is_surfaced_is_counted_and_is_no_finding(run_drill: Any) -> None:
    drilled = run_drill("sound:surfaced", "send", only=lambda protocol: protocol.at.startswith("effect:"))
    doubts = [outcome.protocol.at for outcome in drilled.outcomes if outcome.doubt]
    assert "effect:send:after" in doubts
    assert _found(drilled) == {}
    assert {cell.label for cell in cells_of(drilled)} == {Label.HOLDS}


def test_a_bare_answer_that_the_next_gate_takes_is_told_as_documented_and_fails_nothing(run_drill: Any) -> None:
    drilled = run_drill(
        "sound:two_gates",
        "send",
        keys={"send": "idempotency_key"},
        only=lambda protocol: protocol.action is Action.REDELIVER,
    )
    found = {(outcome.protocol.name, one.breach) for outcome in drilled.outcomes for one in outcome.found}
    assert found == {("redeliver/first@1/bare", Breach.TAKEN)}
    assert _found(drilled) == {}
    labels = {(cell.property, cell.form): cell.label for cell in cells_of(drilled)}
    assert labels[Property.CONSUME_ONCE_COUNT, "bare"] is Label.DIVERGENT
    assert labels[Property.CONSUME_ONCE_COUNT, "map"] is Label.HOLDS
