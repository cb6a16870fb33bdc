"""Each protection is needed: without it, what it protects from happens. These are the guard's negative controls."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resumption.langgraph import DecisionPending, Fenced, InvalidCheckpoint, NothingToFork, UnknownAddress, fork

from .programs import THREAD, Bench, answer, pending
from .test_crashes import die, in_child
from .test_races import slow_approval
from .test_validity_and_order import Model, SlowSaver, program

sys.path.append(str(Path(__file__).parents[1] / "ablation"))
sys.path.append(str(Path(__file__).parents[3] / "scripts"))

from ablated.measuring import TAKEN_OUT, breaches, measured, selected, untold
from ablated.protections import ABLATIONS
from ablation import BREACHES, ablation_page

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and open file description locks")

INPUT: Any = {"trail": []}
ROOT = Path(__file__).parents[3]


def raises(kind: type[Exception], call: Callable[[], Any]) -> bool:
    try:
        call()
    except kind:
        return True
    return False


def race(app: Any, payloads: list[Any]) -> None:
    line = threading.Barrier(len(payloads))

    def run(payload: Any) -> None:
        line.wait()
        try:
            app.invoke(payload, THREAD)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201  # shown if the test fails

    racers = [threading.Thread(target=run, args=(payload,)) for payload in payloads]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()


# Scenarios: what is kept, and what isn't without the protection of that name.


def failed_once(bench: Bench) -> Any:
    """A run whose decision was claimed, and whose node raised."""

    def fail() -> None:
        raise ConnectionError

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=fail)))
    app.invoke(INPUT, THREAD)
    assert raises(ConnectionError, lambda: app.invoke(answer("yes"), THREAD))
    return slow_approval(bench)


def one_of_racing_recoveries_executes(bench: Bench) -> bool:
    race(failed_once(bench), [None] * 3)
    return bench.fired() == ["pay=yes"]


def one_of_racing_decisions_executes(bench: Bench) -> bool:
    app = slow_approval(bench)
    app.invoke(INPUT, THREAD)
    race(app, [answer("yes"), answer("no")])
    return len(bench.fired()) == 1


def another_decision_does_not_pass_for_the_one_on_record(bench: Bench) -> bool:
    app = failed_once(bench)
    return raises(DecisionPending, lambda: app.invoke(answer("no"), THREAD))


def an_unknown_address_is_refused(bench: Bench) -> bool:
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    return raises(UnknownAddress, lambda: app.invoke(answer({"0" * 32: "yes"}), THREAD))


def one_answer_answers_one_question(bench: Bench) -> bool:
    app = bench.guarded(bench.builder(pay=bench.gate("pay", "first?", "second?")))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    app.invoke(None, THREAD)
    return len(pending(app)) == 1 and bench.fired() == []


def a_fork_has_a_decision_of_its_own(bench: Bench) -> bool:
    app = bench.approval()
    app.invoke(INPUT, THREAD)
    parked = app.get_state(THREAD).config
    app.invoke(answer("yes"), THREAD)
    try:
        return "pay=no" in fork(app, parked, "no")["trail"]
    except NothingToFork:
        return False


def an_invalid_state_is_not_stored(bench: Bench) -> bool:
    app = program(bench, Model, {"xs": [None]}, terminal=True)
    return raises(InvalidCheckpoint, lambda: app.invoke({"xs": []}, THREAD))


def a_finished_task_is_on_record_before_the_next_begins(bench: Bench) -> bool:
    from langgraph.func import entrypoint, task

    from resumption.langgraph import guard

    def build(deadly: bool) -> Any:
        @task
        def one() -> None:
            bench.fire("one")

        @task
        def two() -> None:
            if deadly:
                die()

        @entrypoint(checkpointer=SlowSaver(bench.saver().conn))
        def both(_: Any) -> None:
            one().result()
            two().result()

        return guard(both)

    in_child(lambda: build(deadly=True).invoke(1, THREAD))
    build(deadly=False).invoke(None, THREAD)
    return bench.fired() == ["one"]


def a_replaced_executor_stores_nothing(bench: Bench) -> bool:
    def take_over() -> None:
        connection = bench.saver().conn
        connection.execute("UPDATE resumption_fences SET number = number + 1, holder = 'another'")
        connection.commit()

    app = bench.guarded(bench.builder(pay=bench.gate("pay", before=take_over)))
    app.invoke(INPUT, THREAD)
    return raises(Fenced, lambda: app.invoke(answer("yes"), THREAD))


def a_failure_strips_no_answer(bench: Bench) -> bool:
    from langgraph.types import interrupt

    failing: list[bool] = []

    def node(state: Any) -> Any:
        first = interrupt("first?")
        if failing:
            raise ConnectionError
        return {"trail": [f"{first},{interrupt('second?')}"]}

    app = bench.guarded(bench.builder(ask=node))
    app.invoke(INPUT, THREAD)
    app.invoke(answer("A"), THREAD)
    failing.append(True)
    raises(ConnectionError, lambda: app.invoke(answer("B"), THREAD))
    failing.clear()
    return bool(app.invoke(None, THREAD)["trail"] == ["A,B"])


SCENARIOS: dict[str, Callable[[Bench], bool]] = {
    "lease": one_of_racing_recoveries_executes,
    "claims": another_decision_does_not_pass_for_the_one_on_record,
    "binding": an_unknown_address_is_refused,
    "slot": one_answer_answers_one_question,
    "fork": a_fork_has_a_decision_of_its_own,
    "validity": an_invalid_state_is_not_stored,
    "order": a_finished_task_is_on_record_before_the_next_begins,
    "fence": a_replaced_executor_stores_nothing,
    "answers": a_failure_strips_no_answer,
    "claims at the write": one_of_racing_decisions_executes,
    "fork at the write": a_fork_has_a_decision_of_its_own,
}
BROKEN = 3
"""How a process ends in which what is to be kept wasn't."""
ALONE = [name for name in SCENARIOS if "write" not in name]


def kept(bench: Bench, scenario: str, missing: str = "") -> bool:
    """Play a scenario in a process of its own, without one protection."""

    def play() -> None:
        if missing:
            ABLATIONS[missing]()
        if not SCENARIOS[scenario](Bench(bench.folder)):
            os._exit(BROKEN)

    ended = in_child(play)
    assert ended in (0, BROKEN), "the scenario itself failed; it has said why on standard error"
    return ended == 0


@pytest.mark.parametrize("protection", SCENARIOS)
def test_what_a_protection_keeps_is_kept_with_it_and_not_without(tmp_path, protection):
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    assert kept(Bench(tmp_path / "with"), protection)
    assert not kept(Bench(tmp_path / "without"), protection, missing=protection)


FALLS_WITH = {
    # An answer that isn't in its task's slot leaves the question waiting, and another decision may take it.
    "claims": {"claims", "slot"},
    # An interrupt that was answered is found by its claim.
    "fork": {"fork", "claims"},
}
"""What falls with another protection than its own."""


@pytest.mark.slow
@pytest.mark.parametrize("missing", ALONE)
@pytest.mark.parametrize("scenario", ALONE)
def test_without_a_protection_its_own_falls_and_nothing_else(tmp_path, missing, scenario):
    """The whole matrix."""
    assert kept(Bench(tmp_path), scenario, missing) == (missing not in FALLS_WITH.get(scenario, {scenario}))


# The harness's cells: what breaches the contract without each protection, as it was measured by every probe.

RECORDED: dict[str, dict[str, list[str]]] = json.loads(BREACHES.read_text(encoding="utf-8"))
QUICK = {
    "claims": ("graph", "consume/contradiction-after-crash"),
    "binding": ("graph", "address/unknown"),
    "slot": ("graph", "consume/one-answer-two-interrupts"),
    "fork": ("graph", "fork/two-values"),
    "validity": ("graph", "validity/terminal/null-item"),
    "order": ("functional", "crash/write-order"),
    "ledger": ("graph", "interrupt/code-before"),
    "fence": ("graph", "recovery/lease-lost"),
    "answers": ("graph", "consume/failure-between-interrupts"),
    "lease": ("graph", "recovery/race"),
    "ledger,lease": ("graph", "recovery/race"),
    "lease,fence": ("graph", "recovery/overtaken"),
    "claims at the write": ("graph", "consume/contradiction-after-crash"),
    "fork at the write": ("graph", "fork/two-values"),
}
"""For each protection one of the probes that see that it is missing, and where."""


def seen_by(probe: str, path: str, missing: str) -> set[str]:
    return {part for part in RECORDED[path][missing] if part.endswith(f" {probe}")}


@pytest.mark.parametrize("missing", QUICK)
def test_without_a_protection_a_probe_of_the_harness_sees_what_it_saw(missing):
    path, probe = QUICK[missing]
    expected = seen_by(probe, path, missing)
    assert expected > seen_by(probe, path, missing.rpartition(",")[0])
    receipt = measured(path, missing, selected([probe]))
    assert (breaches(receipt), untold(receipt)) == (expected, set())


CHANCE = {
    **{(path, "claims at the write"): ("consume/race-", "consume/while-live") for path in TAKEN_OUT},
    **{(path, "order"): ("crash/unordered-pair",) for path in TAKEN_OUT},
}
"""What a busy machine may show or not: which of several racers finds a claim that comes too late, and which of two
writes that wait for nothing is stored first."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "missing"), [(path, missing) for path, taken in TAKEN_OUT.items() for missing in ("", *taken)]
)
def test_without_a_protection_its_cells_of_the_harness_fall_and_no_other(path, missing):
    """The whole matrix, but for what is left to chance."""
    receipt = measured(path, missing)
    chance = CHANCE.get((path, missing), ())
    differing = breaches(receipt) ^ set(RECORDED[path][missing])
    assert {part for part in differing if not part.partition(" ")[2].startswith(chance)} == set()
    assert untold(receipt) == set()


def test_every_protection_falls_somewhere_and_none_heals_anything():
    fallen = set()
    for path, taken in TAKEN_OUT.items():
        assert RECORDED[path].keys() == {"", *taken}
        assert all(set(RECORDED[path][""]) <= set(RECORDED[path][name]) for name in taken)
        before = {name: RECORDED[path][name.rpartition(",")[0]] for name in taken}
        fallen |= {name.rpartition(",")[2] for name in taken if set(RECORDED[path][name]) > set(before[name])}
    assert fallen == ABLATIONS.keys()


def test_the_page_is_what_was_measured():
    assert (ROOT / "docs" / "ablation.md").read_text(encoding="utf-8") == ablation_page()
