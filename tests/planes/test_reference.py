"""The reference plane keeps the contract: in one process, with a kill at every point that a run passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reference_bench import PAYMENT, TWO_QUESTIONS, Bench, Killed, Plane, decision

from resumption.history.workload import Corrupt, Effect, Interrupt, Shape, Task, Workload, WriteFault
from resumption.planes.interface import Address, Completed, Failed, Parked

TRAIL = ["reserve", "pay=yes", "ship"]


def parked(plane: Plane, bench: Bench) -> Address:
    run = plane.run(bench)
    assert isinstance(run.start({"trail": []}).wait(), Parked)
    return run.address()


def finished(plane: Plane, bench: Bench) -> Address:
    where = parked(plane, bench)
    assert plane.run(bench).deliver(decision("yes", where)).wait() == Completed(TRAIL)
    return where


def points_of_a_whole_run(folder: Path) -> list[str]:
    bench = Bench()
    folder.mkdir()
    finished(Plane(folder), bench)
    return bench.points


def refusal(outcome: object) -> str:
    assert isinstance(outcome, Failed)
    assert outcome.error == "Refused"
    return outcome.message.split(":")[0]


def test_a_run_parks_before_the_gates_effect_and_finishes_after_its_answer(tmp_path: Path) -> None:
    bench = Bench()
    where = parked(Plane(tmp_path), bench)
    assert [name for name, _ in bench.fired] == ["reserve", "notify"]
    assert Plane(tmp_path).run(bench).deliver(decision("yes", where)).wait() == Completed(TRAIL)
    assert dict(bench.fired) == {
        ("reserve", None): 1,
        ("notify", None): 1,
        ("charge", "yes"): 1,
        ("ship", "yes"): 1,
    }


def test_a_kill_at_any_point_repeats_no_recorded_effect_and_loses_no_task(tmp_path: Path) -> None:
    points = points_of_a_whole_run(tmp_path / "whole")
    assert len(points) == len(set(points)) + 5  # leases are taken and released twice, and the gate starts twice
    for number, point in enumerate(points, 1):
        plane, bench = Plane(tmp_path / str(number)), Bench(kill_at=number)
        plane.folder.mkdir()
        with pytest.raises(Killed):
            finished(plane, bench)
        bench.kill_at = ""
        run = plane.run(bench)
        outcome = run.recover("recover").wait()
        if isinstance(outcome, Parked):
            outcome = run.deliver(decision("yes", run.address())).wait()
        assert outcome == Completed(TRAIL), point
        # Between an effect and its record lies the window that no plane can close; everywhere else it is once.
        window = {effect for effect in ("reserve", "notify", "charge", "ship") if _in_window(point, effect)}
        assert {effect for (effect, _), times in bench.fired.items() if times > 1} <= window, point


def _in_window(point: str, effect: str) -> bool:
    return point in (f"after:{effect}", f"begin:effect({effect}):")


def test_a_second_decision_is_refused_by_name_and_fires_nothing(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = finished(plane, bench)
    before = dict(bench.fired)
    assert refusal(plane.run(bench).deliver(decision("no", where)).wait()) == "claim-already-consumed"
    assert refusal(plane.run(bench).deliver(decision("yes", where, name="another")).wait()) == "claim-repeated"
    assert refusal(plane.run(bench).deliver(decision("no", where, form="bare")).wait()) == "binding-nothing-pending"
    assert dict(bench.fired) == before


def test_a_repeated_delivery_gets_the_recorded_outcome(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = finished(plane, bench)
    before = dict(bench.fired)
    assert plane.run(bench).deliver(decision("yes", where)).wait() == Completed(TRAIL)
    assert dict(bench.fired) == before


def test_a_delivery_id_with_another_decision_is_a_mismatch(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = parked(plane, bench)
    plane.run(bench).deliver(decision("yes", where, name="one")).wait()
    assert refusal(plane.run(bench).deliver(decision("no", where, name="one")).wait()) == "delivery-mismatch"


@pytest.mark.parametrize("identity", ["approve#2", "approve#", "approve#x", "deny#1", "", 7, None, ["approve#1"]])
def test_an_address_that_was_never_issued_is_refused(tmp_path: Path, identity: object) -> None:
    plane, bench = Plane(tmp_path), Bench()
    parked(plane, bench)
    made_up = Address(requests={"approve": identity})
    assert refusal(plane.run(bench).deliver(decision("yes", made_up)).wait()) == "binding-unknown"
    assert plane.run(bench).inspect().pending


def test_forks_have_outcomes_and_effects_of_their_own(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = finished(plane, bench)
    for value in ("no", "later"):
        outcome = plane.run(bench).deliver(decision(value, where, form="fork")).wait()
        assert outcome == Completed(["reserve", f"pay={value}", "ship"])
        assert bench.fired["charge", value] == bench.fired["ship", value] == 1
    assert bench.count("reserve") == bench.count("notify") == 1


def test_a_question_can_be_forked_before_it_is_answered_and_stays_open(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = parked(plane, bench)
    assert plane.run(bench).deliver(decision("no", where, form="fork")).wait() == Completed(
        ["reserve", "pay=no", "ship"]
    )
    assert plane.run(bench).deliver(decision("yes", where)).wait() == Completed(TRAIL)
    assert bench.fired["charge", "no"] == bench.fired["charge", "yes"] == 1


def test_a_crash_inside_a_fork_is_recovered_on_the_fork(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = finished(plane, bench)
    bench.kill_at = "before:ship"
    with pytest.raises(Killed):
        plane.run(bench).deliver(decision("no", where, form="fork")).wait()
    bench.kill_at = ""
    assert plane.run(bench).recover("recover").wait() == Completed(["reserve", "pay=no", "ship"])
    assert bench.fired["charge", "no"] == bench.fired["ship", "no"] == 1


def test_after_a_crash_another_decision_than_the_claimed_one_is_refused(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    where = parked(plane, bench)
    bench.kill_at = "before:charge"
    with pytest.raises(Killed):
        plane.run(bench).deliver(decision("yes", where)).wait()
    bench.kill_at = ""
    assert refusal(plane.run(bench).deliver(decision("no", where)).wait()) == "claim-pending"
    assert plane.run(bench).deliver(decision("yes", where, name="again")).wait() == Completed(TRAIL)
    assert bench.count("charge") == 1


def test_one_answer_is_for_one_interrupt(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path, TWO_QUESTIONS), Bench()
    run = plane.run(bench)
    run.start({"trail": []}).wait()
    first = run.address()
    outcome = run.deliver(decision("a", first, target="first")).wait()
    assert isinstance(outcome, Parked)
    assert [item.name for item in outcome.pending] == ["second"]
    assert run.recover("recover").wait() == outcome
    assert refusal(run.deliver(decision("z", first, target="first")).wait()) == "branch-superseded"
    assert run.deliver(decision("b", run.address(), target="second")).wait() == Completed(["ask=a+b"])
    assert bench.count("between") == bench.count("last") == 1


def test_a_fork_at_the_second_interrupt_keeps_the_first_answer(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path, TWO_QUESTIONS), Bench()
    run = plane.run(bench)
    run.start({"trail": []}).wait()
    run.deliver(decision("a", run.address(), target="first")).wait()
    where = run.address()
    run.deliver(decision("b", where, target="second")).wait()
    assert run.deliver(decision("c", where, target="second", form="fork")).wait() == Completed(["ask=a+c"])
    assert bench.count("between") == 1


@pytest.mark.parametrize("fault", WriteFault)
def test_an_invalid_write_is_refused_and_stores_nothing(tmp_path: Path, fault: WriteFault) -> None:
    workload = Workload((Task("a", (Effect("a"),)), Task("b", (Corrupt(fault),)), Task("c", (Effect("c"),))))
    bench = Bench()
    run = Plane(tmp_path, workload).run(bench)
    assert refusal(run.start({"trail": []}).wait()) == "commit-invalid"
    assert run.inspect().trail == ["a"]
    assert bench.count("c") == 0


def test_inspection_changes_no_byte(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    parked(plane, bench)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert plane.run(bench).inspect() == plane.run(bench).inspect()
    plane.run(bench).address()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_opening_and_inspecting_an_empty_store_leaves_it_empty(tmp_path: Path) -> None:
    snapshot = Plane(tmp_path).run(Bench()).inspect()
    assert (snapshot.trail, snapshot.pending, snapshot.finished) == ([], (), False)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_never_started_cant_be_answered_or_recovered(tmp_path: Path) -> None:
    run = Plane(tmp_path).run(Bench())
    assert refusal(run.recover("recover").wait()) == "run-not-started"
    assert refusal(run.deliver(decision("yes", Address())).wait()) == "run-not-started"


def test_a_second_start_is_refused(tmp_path: Path) -> None:
    plane, bench = Plane(tmp_path), Bench()
    parked(plane, bench)
    assert refusal(plane.run(bench).start({"trail": []}).wait()) == "run-already-started"


def test_a_parked_run_isnt_resumed_with_another_program(tmp_path: Path) -> None:
    bench = Bench()
    where = parked(Plane(tmp_path), bench)
    changed = Workload((*PAYMENT.tasks, Task("bill", (Effect("bill"),))))
    outcome = Plane(tmp_path, changed).run(bench).deliver(decision("yes", where)).wait()
    assert refusal(outcome) == "run-topology-changed"


# Tasks that wait for no other ---------------------------------------------------------------------------------------

GATES = Workload(
    (
        Task("left", (Interrupt("left?"), Effect("pay left"))),
        Task("free", (Effect("free"),)),
        Task("right", (Interrupt("right?"), Effect("pay right"))),
    ),
    Shape.FAN_OUT,
)


def at_both_gates(folder: Path, bench: Bench) -> tuple[Plane, Address]:
    plane = Plane(folder, GATES)
    outcome = plane.run(bench).start({"trail": []}).wait()
    assert isinstance(outcome, Parked)
    assert [pending.name for pending in outcome.pending] == ["left?", "right?"]
    assert list(bench.fired) == [("free", None)]
    return plane, plane.run(bench).address()


def test_one_delivery_answers_several_interrupts_in_one_write(tmp_path: Path) -> None:
    bench = Bench()
    plane, where = at_both_gates(tmp_path, bench)
    both = replace(decision("yes", where, target="left?"), answers={"right?": "no"})
    assert plane.run(bench).deliver(both).wait() == Completed(["left=yes", "free", "right=no"])
    assert bench.consumed == [("left?", "yes"), ("right?", "no")]


def test_several_interrupts_are_answered_in_any_order(tmp_path: Path) -> None:
    bench = Bench()
    plane, where = at_both_gates(tmp_path, bench)
    assert isinstance(plane.run(bench).deliver(decision("no", where, target="right?")).wait(), Parked)
    last = replace(decision("yes", where, target="left?"), delivery="d2")
    assert plane.run(bench).deliver(last).wait() == Completed(["left=yes", "free", "right=no"])
    assert dict(bench.fired) == {("free", None): 1, ("pay right", "no"): 1, ("pay left", "yes"): 1}


def test_a_delivery_of_which_one_answer_is_refused_records_none(tmp_path: Path) -> None:
    bench = Bench()
    plane, where = at_both_gates(tmp_path, bench)
    unknown = replace(decision("yes", where, target="left?"), answers={"nobody?": "no"})
    assert isinstance(plane.run(bench).deliver(unknown).wait(), Parked | Failed)
    assert bench.consumed == []
    assert set(plane.run(bench).address().requests) == {"left?", "right?"}


def test_a_kill_between_two_gates_loses_neither(tmp_path: Path) -> None:
    bench = Bench(kill_at="end:interrupt(left?):")
    plane = Plane(tmp_path, GATES)
    with pytest.raises(Killed):
        plane.run(bench).start({"trail": []}).wait()
    bench.kill_at = ""
    outcome = plane.run(bench).recover("recover").wait()
    assert isinstance(outcome, Parked)
    assert [pending.name for pending in outcome.pending] == ["left?", "right?"]
