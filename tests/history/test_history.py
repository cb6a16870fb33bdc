"""A history in memory: where effects are placed, when operations were over, and what an abstract program says."""

from dataclasses import replace

import pytest

from resumption.history.events import (
    Deliver,
    EffectBegin,
    EffectEnd,
    Event,
    Exit,
    Inspect,
    Intent,
    Oracle,
    Park,
    Persist,
    Phase,
    Recover,
    Return,
    Start,
    TaskStart,
)
from resumption.history.history import Header, History
from resumption.history.workload import Corrupt, Effect, Interrupt, Task, Work, Workload, WriteFault, marker

GATE = Task("approve", (Effect("notify"), Interrupt("q1"), Work(0.1), Interrupt("q2"), Effect("pay")))
BAD = Task("bad", (Corrupt(WriteFault.NULL),))
PROGRAM = Workload((Task("a", (Effect("charge"),)), GATE, BAD))


def history(*events: Event) -> History:
    header = Header(probe="p", plane="x", path="graph", backend="none", form="", workload=PROGRAM)
    return History(header, tuple(replace(event, number=number) for number, event in enumerate(events, 1)))


def begin(call: str, process: int = 1) -> EffectBegin:
    return EffectBegin(
        process=process, operation=process, branch="b0", call=call, effect="charge", task="a", value=None
    )


def test_effect_that_returned_lies_inside_its_bracket() -> None:
    h = history(begin("c1"), EffectEnd(process=1, call="c1", count=1), Oracle(process=0, fired=("c1",)))
    (fire,) = h.fires()
    assert (fire.call, fire.effect, fire.task, fire.begin, fire.end) == ("c1", "charge", "a", 1, 2)


def test_effect_whose_process_died_inside_lies_before_the_exit() -> None:
    h = history(
        begin("c1"), begin("c2", process=2), Exit(process=0, who=1, code=0, signal=9), Oracle(process=0, fired=("c1",))
    )
    assert [(fire.begin, fire.end) for fire in h.fires()] == [(1, 3)]


def test_effect_without_a_row_never_fired_whatever_its_process_recorded() -> None:
    h = history(begin("c1"), Exit(process=0, who=1, code=0, signal=9), Oracle(process=0, fired=()))
    assert h.fires() == ()
    assert h.problems() == ()


def test_nothing_is_known_to_have_fired_before_the_oracle_is_read() -> None:
    assert history(begin("c1"), EffectEnd(process=1, call="c1", count=1)).fires() == ()


def test_tally_of_a_process_that_disagrees_with_its_events_is_a_problem() -> None:
    h = history(
        begin("c1"),
        EffectEnd(process=1, call="c1", count=2),
        Exit(process=0, who=1, code=0, signal=0),
        Oracle(process=0, fired=("c1",)),
    )
    assert h.problems() == ("process 1 counted 2 effects at #2, not 1",)


@pytest.mark.parametrize("second", [begin("c1"), EffectEnd(process=1, call="c1", count=2)], ids=["begin", "end"])
def test_call_that_is_named_twice_is_a_problem(second: Event) -> None:
    h = history(
        begin("c1"),
        EffectEnd(process=1, call="c1", count=1),
        second,
        Exit(process=0, who=1, code=0, signal=0),
        Oracle(process=0, fired=("c1",)),
    )
    how = "began" if isinstance(second, EffectBegin) else "returned"
    assert h.problems() == (f"call c1 {how} a second time at #3",)


def test_operations_come_in_the_order_in_which_they_were_served() -> None:
    asked = (
        Start(process=1, operation=1, value={}),
        Inspect(process=2, operation=2),
        Deliver(process=3, operation=4, intent=Intent.ANSWER, form="bare", delivery="d1", value=True),
        Recover(process=4, operation=3, form="input"),
    )
    assert [operation.operation for operation in history(*asked).operations()] == [1, 2, 4, 3]


def test_events_of_an_operation_are_told_apart_by_kind() -> None:
    h = history(
        Start(process=1, operation=1, value={}),
        TaskStart(process=1, operation=1, task="a", trail=[]),
        TaskStart(process=2, operation=2, task="a", trail=[]),
        Return(process=1, operation=1, trail=["a"]),
    )
    assert [event.number for event in h.during(1, TaskStart)] == [2]
    assert [event.number for event in h.during(1, Event)] == [1, 2, 4]


def test_answered_operation_is_over_with_the_last_that_it_recorded() -> None:
    start = Start(process=1, operation=1, value={}, number=1)
    h = history(
        start,
        Park(process=1, operation=1, pending=()),
        Persist(process=1, operation=1, phase=Phase.END, item="late", name="put"),
        Recover(process=1, operation=2, form="input"),
        Exit(process=0, who=1, code=0, signal=9),
    )
    assert h.ended(start) == 3


def test_operation_that_got_no_answer_is_over_when_its_process_was_reaped() -> None:
    start = Start(process=1, operation=1, value={}, number=1)
    death = Exit(process=0, who=1, code=0, signal=9)
    assert history(start, Exit(process=0, who=2, code=0, signal=9), begin("c1"), death).ended(start) == 4


@pytest.mark.parametrize(
    ("task", "interrupts", "effects", "corrupts"),
    [
        ("a", [], ["charge"], None),
        ("approve", ["q1", "q2"], ["notify", "pay"], None),
        ("bad", [], [], WriteFault.NULL),
    ],
)
def test_task_says_what_it_asks_fires_and_breaks(
    task: str, interrupts: list[str], effects: list[str], corrupts: WriteFault | None
) -> None:
    found = PROGRAM.task(task)
    assert [step.name for step in found.interrupts] == interrupts
    assert [step.name for step in found.effects] == effects
    assert found.corrupts is corrupts


def test_tasks_have_places_and_gates_are_those_that_ask() -> None:
    assert [PROGRAM.index(task.name) for task in PROGRAM.tasks] == [0, 1, 2]
    assert list(PROGRAM.gates()) == [GATE]
    with pytest.raises(KeyError, match="elsewhere"):
        PROGRAM.task("elsewhere")


def test_mark_on_the_trail_carries_the_decisions() -> None:
    assert marker(PROGRAM.task("a"), ()) == "a"
    assert marker(GATE, ("yes",)) == "approve=yes"
    assert marker(GATE, (True, 2)) == "approve=True+2"
