"""Forks: several decisions, with fork intent, at one interrupt."""

from __future__ import annotations

from collections.abc import Sequence

from resumption.contract.properties import Property
from resumption.harness.lab import Lab
from resumption.harness.probes.probe import probe
from resumption.harness.probes.workloads import SEQUENCE
from resumption.history.events import Intent
from resumption.planes.interface import Capability, Operation

__all__ = ["PROBES"]


def _answer_and_fork(lab: Lab, values: Sequence[str]) -> None:
    with lab.trial(SEQUENCE) as trial:
        process = trial.process()
        process.start()
        where = process.address()
        trial.complete(process, process.answer(values[0], target="approve", at=where))
        for value in values[1:]:
            process.fork(value, target="approve", at=where)


@probe(
    "fork/two-values",
    expectation="each decision gives its own outcome, and fires the gate's effect once on its branch",
    source="arXiv 2608.03836, property FD; LangGraph #6663",
    decides=(Property.FORK_DETERMINISM,),
    operation=Operation.FORK,
    needs=(Capability.GATE, Capability.FORK),
)
def two_values(lab: Lab) -> None:
    """Park, keep the interrupt's address, answer there, let the run end, and fork there with another decision."""
    _answer_and_fork(lab, ("yes", "no"))


@probe(
    "fork/three-values",
    expectation="each decision gives its own outcome, and fires the gate's effect once on its branch",
    source="arXiv 2608.03836, property FD; LangGraph #6663",
    decides=(Property.FORK_DETERMINISM,),
    operation=Operation.FORK,
    needs=(Capability.GATE, Capability.FORK),
)
def three_values(lab: Lab) -> None:
    """As fork/two-values, with a second fork at the same address."""
    _answer_and_fork(lab, ("one", "two", "three"))


@probe(
    "fork/retry-or-fork",
    expectation="the fork gets an outcome of its own, and the retry fires nothing",
    source="arXiv 2608.03836, Proposition 1",
    decides=(Property.FORK_INTENT,),
    operation=Operation.FORK,
    needs=(Capability.GATE, Capability.FORK),
)
def retry_or_fork(lab: Lab) -> None:
    """Answer an interrupt, deliver the same answer once more, and fork there with another decision."""
    with lab.trial(SEQUENCE) as trial:
        process = trial.process()
        process.start()
        where = process.address()
        trial.complete(process, process.answer("yes", target="approve", at=where, delivery="first"))
        process.answer("yes", target="approve", at=where, intent=Intent.RETRY, delivery="first")
        process.fork("no", target="approve", at=where)


PROBES = (two_values, three_values, retry_or_fork)
