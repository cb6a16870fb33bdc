"""Agent Framework's plane: what it says of itself, and what it does in an environment of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from recording import RecordingInstruments
from surveyed import assert_consistent, check_quotes, check_random_workloads

from resumption.history.workload import Effect, Interrupt, Task, Work
from resumption.planes.agent_framework.continuation import Continuation
from resumption.planes.agent_framework.spec import SPECS, WORKFLOW
from resumption.planes.tasks import perform


def test_forms_statements_and_locks_hang_together() -> None:
    assert_consistent(SPECS)


class Parked(Exception):
    """The body came to a question without an answer."""


@dataclass
class Body:
    """A task's body, called once up to each question, and once behind the last."""

    task: Task
    seen: RecordingInstruments = field(default_factory=RecordingInstruments)

    def call(self, *answers: str) -> None:
        remaining = iter(answers)

        def ask(question: Interrupt) -> str:
            for answer in remaining:
                return answer
            raise Parked

        perform(self.task, [], Continuation.of(self.task, self.seen, answers), ask)


def test_a_part_of_a_body_passes_over_what_the_parts_before_it_did() -> None:
    steps = (Effect("one"), Interrupt("first"), Effect("two"), Work(0), Interrupt("second"), Effect("three"))
    body = Body(Task("gate", steps))
    for answers in ((), ("yes",)):
        with pytest.raises(Parked):
            body.call(*answers)
    body.call("yes", "no")
    assert [name for name, _ in body.seen.fired] == ["one", "two", "three"]
    assert body.seen.consumed == [("first", "yes"), ("second", "no")]


@pytest.mark.slow
def test_a_random_workload_parks_at_its_gate_and_fires_each_effect_once() -> None:
    check_random_workloads(WORKFLOW)


@pytest.mark.slow
def test_what_the_package_says_is_quoted_word_for_word() -> None:
    check_quotes(WORKFLOW)
