"""Sentences: every kind of event has one, on one line that any terminal can print."""

import pytest
from histories import Protocol, cell, story

from resumption.contract.judges.stories import sentence, shown
from resumption.contract.properties import Property
from resumption.history.events import (
    EVENTS,
    Consume,
    Crash,
    Deliver,
    Drift,
    Durable,
    EffectBegin,
    EffectEnd,
    Event,
    Exit,
    Inspect,
    Intent,
    LeaseLoss,
    Oracle,
    Park,
    Past,
    Pending,
    Persist,
    Phase,
    Raise,
    Recover,
    Return,
    Start,
    State,
    Tamper,
    TaskEnd,
    TaskStart,
)
from resumption.history.workload import Task, Workload

SAID: list[tuple[Event, str]] = [
    (Start(process=1, branch="b0", value={}), "the run was started on branch b0, in process 1"),
    (
        Deliver(process=2, branch="b0", intent=Intent.STRAY, form="bare", delivery="d2", value=True, target="ok?"),
        "delivery d2 (stray, form bare) brought true for interrupt `ok?` on branch b0, in process 2",
    ),
    (
        Deliver(process=2, branch="b0", intent=Intent.RACE, form="map", delivery="d3", value=None),
        "delivery d3 (race, form map) brought null on branch b0, in process 2",
    ),
    (Recover(process=3, branch="b0", form="input"), "a recovery (form input) was asked for on branch b0, in process 3"),
    (
        Recover(process=3, branch="b0", form="command", value=True),
        "a recovery (form command) was asked for, and brought true, on branch b0, in process 3",
    ),
    (Inspect(process=3, branch="b0"), "the state was inspected on branch b0, in process 3"),
    (Park(process=1, pending=(Pending(identity="i1", name="q1"), Pending(identity="i2", name="q2"))),
     "the run parked at `q1`, `q2`"),
    (Park(process=1, pending=()), "the run parked at no interrupt"),
    (Return(process=1, trail=["a"]), 'the run returned as finished, with ["a"]'),
    (Raise(process=1, error="ValueError", message="no"), "the operation raised ValueError: no"),
    (State(process=1, trail=[], finished=False), "inspection showed an open run with []"),
    (State(process=1, trail=[], finished=True), "inspection showed a finished run with []"),
    (Past(process=1, trails=(["a"], [])), "the history listed 2 states"),
    (Past(process=1, trails=(), error="TypeError"), "the history listed 0 states, and then raised TypeError"),
    (TaskStart(process=1, branch="b0.1", task="a", trail=None),
     "task `a` started on branch b0.1, in process 1, and saw null"),
    (TaskEnd(process=1, task="a", write=["a"]), 'task `a` ended, and wrote ["a"]'),
    (Consume(process=1, branch="b0", task="g", interrupt="ok?", value="yes"),
     'interrupt `ok?` consumed "yes" on branch b0, in process 1'),
    (EffectBegin(process=1, branch="b0", call="c1", effect="charge", task="a", value=None),
     "effect `charge` of task `a` fired on branch b0, in process 1"),
    (EffectEnd(process=1, call="c1", count=1), "the call c1 returned"),
    (Persist(process=1, phase=Phase.BEGIN, item="i", name="put"), "the storage operation put began"),
    (Persist(process=1, phase=Phase.END, item="i", name="put"), "the storage operation put ended"),
    (Persist(process=1, phase=Phase.END, item="i", name="put", covers=("a", "b")),
     "the storage operation put ended: task `a`, task `b` durable"),
    (Crash(process=1, point="effect:charge:after"), "process 1 reached its kill point effect:charge:after"),
    (Exit(process=0, who=4, code=0, signal=9), "process 4 died of signal 9"),
    (Exit(process=0, who=4, code=1, signal=0), "process 4 ended"),
    (Drift(process=0, workload=Workload((Task("a"), Task("b")))), "the program became `a`, `b`"),
    (Durable(process=0, of="store", sha256="0123456789abcdef"),
     "what was durable (store) had the SHA-256 0123456789ab…"),
    (Tamper(process=0), "the durable trail was made a number, from outside"),
    (LeaseLoss(process=0, leases=1), "1 leases were taken from executors that live"),
    (Oracle(process=0, fired=("c1",)), "the effect record was read"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "said"), SAID, ids=lambda value: value.kind if isinstance(value, Event) else "")
def test_event_is_told_in_one_sentence(event: Event, said: str) -> None:
    assert sentence(event) == said


def test_every_kind_of_event_is_told() -> None:
    assert {type(event) for event, _ in SAID} == set(EVENTS.values())


def test_long_message_of_many_lines_is_cut_to_one_line() -> None:
    said = sentence(Raise(process=1, error="ValidationError", message="1 error\n  trail.1\n" + "x" * 500))
    assert said.startswith("the operation raised ValidationError: 1 error trail.1 xxx")
    assert said.endswith("…")
    assert len(said) < 160


def test_value_that_no_file_can_hold_is_still_told() -> None:
    assert shown("\ud800") == '"\\ud800"'
    assert shown("zoë") == '"zoë"'
    assert sentence(Raise(process=1, error="E", message="\udfff")).encode()


def test_story_is_told_in_the_order_of_the_history_and_says_each_event_once() -> None:
    p = Protocol()
    p.to_the_end()
    p.deliver(False, intent=Intent.STRAY)
    p.passes_the_gate(False)
    for found in cell(p, Property.CONSUME_ONCE_EFFECTS).findings:
        numbers = [step.number for step in found.story]
        assert numbers == sorted(set(numbers))
    assert story(cell(p, Property.CONSUME_ONCE_EFFECTS)).count("\n  #") > 3
