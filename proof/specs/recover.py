"""What is demanded of `decide.recover`."""

from __future__ import annotations

from typing import Any

import z3

from proof.formulas import call, is_any
from proof.spec import Case, Given, Spec
from proof.symbolic import Module

__all__ = ["SPECS"]


def _recover(p: Given) -> tuple[Case, ...]:
    due = z3.And(z3.Not(p.recorded), p.missing <= 0)
    gated, undecided = p.gates > 0, p.answered < p.gates
    return (
        Case("SERVED", p.recorded),
        Case("WAITS", z3.And(z3.Not(p.recorded), p.missing > 0)),
        Case("RUNS", z3.And(due, z3.Not(gated))),
        Case("PARKED", z3.And(due, gated, undecided, p.asked > p.answered)),
        Case("ASKS", z3.And(due, gated, undecided, p.asked <= p.answered)),
        Case("RUNS_DECIDED", z3.And(due, gated, z3.Not(undecided))),
    )


def _runs(m: Module, one: Any) -> Any:
    return call(m, "runs", outcome=one.result).result.value


def _recorded_never_runs(m: Module) -> Any:
    """PC and EO: what is durable doesn't run again."""
    return z3.Not(_runs(m, call(m, "recover", recorded=True)))


def _nothing_runs_early(m: Module) -> Any:
    one = call(m, "recover")
    return z3.Implies(one.missing > 0, z3.Not(_runs(m, one)))


def _parked_is_inert(m: Module) -> Any:
    """A run that waits for a decision is left alone by any recovery."""
    one = call(m, "recover")
    waits = z3.And(one.gates > 0, one.asked > one.answered, one.answered < one.gates)
    return z3.Implies(waits, z3.Not(_runs(m, one)))


def _no_gate_without_decision(m: Module) -> Any:
    one = call(m, "recover")
    passes = is_any(one.result, "RUNS", "RUNS_DECIDED")
    return z3.Implies(z3.And(passes, one.gates > 0), one.answered >= one.gates)


def _always_goes_on(m: Module) -> Any:
    """LV: a task that is due runs, unless it waits for a decision that somebody can give."""
    one = call(m, "recover", recorded=False, missing=0)
    return z3.Or(_runs(m, one), z3.And(one.asked > one.answered, one.answered < one.gates))


def _is_running(p: Given) -> tuple[Case, ...]:
    runs = is_any(p.outcome, "RUNS", "RUNS_DECIDED", "ASKS")
    return (Case(True, runs), Case(False, z3.Not(runs)))


SPECS = (
    Spec(
        "recover",
        _recover,
        {
            "what is recorded never runs (PC, EO)": _recorded_never_runs,
            "nothing runs before what it builds on": _nothing_runs_early,
            "a parked run is left alone": _parked_is_inert,
            "no gate is passed without its decisions": _no_gate_without_decision,
            "what is due goes on (LV)": _always_goes_on,
        },
    ),
    Spec("runs", _is_running),
)
