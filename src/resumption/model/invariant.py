"""The inductive invariant at finite bounds, and Proposition 1 by enumeration: both checked as ordinary machines.

`induction` and `intent` prove the same two statements for all bounds with SMT solvers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from resumption.model.machine import Machine
from resumption.model.semantics import (
    NOTHING,
    PROPERTIES,
    Bounds,
    Faults,
    Record,
    Recovery,
    State,
    is_completed,
    reference_actions,
    type_ok,
)

__all__ = ["INDUCTIVE_INVARIANT", "NO_RESPONDER", "Responder", "fork_intent", "holds_inductively", "inductive_check"]

INDUCTIVE_INVARIANT = "IndInv"
NO_RESPONDER = "NoResponder"


def holds_inductively(bounds: Bounds, state: State) -> bool:
    """The invariant: where the run stands determines what it has done, and every property holds."""
    return (
        type_ok(bounds, state)
        and state.durable == state.pc - 1
        and state.effects == tuple(int(task < state.pc) for task in range(1, bounds.tasks + 1))
        and (not state.waiting or (state.pc == bounds.gate and state.consumed == NOTHING))
        and all(recovery.resumed_at == recovery.durable + 1 for recovery in state.recoveries)
        and tuple(record.task for record in state.log) == tuple(range(1, state.durable + 1))
        and all(holds(bounds, state) for holds in PROPERTIES.values())
    )


def states_of_invariant(bounds: Bounds) -> Iterator[State]:
    """Every state, reachable or not, in which the invariant holds."""
    decisions = [Recovery(durable, durable + 1) for durable in range(bounds.tasks)]
    values = range(1, bounds.values + 1)
    forks = [forked for length in range(bounds.resumes) for forked in product(values, repeat=length)]
    recoveries = [taken for length in range(bounds.crashes + 1) for taken in product(decisions, repeat=length)]
    for pc, consumed in product(range(1, bounds.tasks + 2), range(bounds.values + 1)):
        may_park = pc == bounds.gate and consumed == NOTHING
        parking = (False, True) if may_park else (False,)
        for waiting, fork, taken, extras in product(parking, forks, recoveries, range(bounds.extras + 1)):
            yield State(
                pc=pc,
                effects=tuple(int(task < pc) for task in range(1, bounds.tasks + 1)),
                log=tuple(Record(task, valid=True) for task in range(1, pc)),
                durable=pc - 1,
                waiting=waiting,
                consumed=consumed,
                fork_values=fork,
                fork_outcomes=fork,
                crashes=len(taken),
                recoveries=taken,
                extras=extras,
            )


def inductive_check(bounds: Bounds, faults: Faults = frozenset()) -> Machine[State]:
    """Start in every state of the invariant: it is inductive if no action leads out of it."""
    return Machine(
        initial=tuple(states_of_invariant(bounds)),
        actions=reference_actions(bounds, faults),
        invariants={INDUCTIVE_INVARIANT: partial(holds_inductively, bounds)},
        completed=partial(is_completed, bounds),
    )


@dataclass(frozen=True, slots=True)
class Responder:
    """What an implementation does with a resume of a consumed interrupt, for everything that it may see.

    `answers` maps the recorded decision, the resume's value and its intent to an outcome and whether an effect fires.
    Without a discriminator the intent it sees is always `None`.
    """

    answers: tuple[tuple[tuple[int, int, str | None], tuple[int, bool]], ...]

    def serves_every_intent(self, values: int, discriminator: bool) -> bool:
        """A fork gets the outcome of its own value and fires; a retry gets the recorded one and fires nothing."""
        answers = dict(self.answers)
        pairs = product(range(1, values + 1), repeat=2)
        return all(
            answers[recorded, value, "fork" if discriminator else None] == (value, True)
            and answers[recorded, value, "retry" if discriminator else None] == (recorded, False)
            for recorded, value in pairs
        )


def fork_intent(values: int, discriminator: bool) -> Machine[Responder]:
    """Every responder there is, as an initial state each."""
    decisions = range(1, values + 1)
    seen = list(product(decisions, decisions, ("fork", "retry") if discriminator else (None,)))
    answers = list(product(decisions, (False, True)))
    responders = (Responder(tuple(zip(seen, chosen, strict=True))) for chosen in product(answers, repeat=len(seen)))
    return Machine(
        initial=tuple(responders),
        actions={"Next": lambda responder: (responder,)},
        invariants={NO_RESPONDER: lambda responder: not responder.serves_every_intent(values, discriminator)},
        completed=lambda _: False,
    )
