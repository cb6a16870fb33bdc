"""Ask a solver whether a formula can be satisfied: z3, and cvc5 as the second opinion on the very same text."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import z3

__all__ = ["Answer", "as_text", "ask_cvc5", "ask_z3", "counterexample"]

TIMEOUT_MILLISECONDS = 20_000


class Answer(StrEnum):
    """What a solver says."""

    UNSATISFIABLE = "unsat"
    SATISFIABLE = "sat"
    UNKNOWN = "unknown"


def _solver(formula: Any) -> Any:
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MILLISECONDS)
    solver.add(formula)
    return solver


def ask_z3(formula: Any) -> Answer:
    """z3's answer; `UNKNOWN` after 20 seconds."""
    return Answer(str(_solver(formula).check()))


def counterexample(formula: Any) -> dict[str, str]:
    """A model of the formula by z3, as text by unknown; empty if there is none."""
    solver = _solver(formula)
    if solver.check() != z3.sat:
        return {}
    model = solver.model()
    return {str(unknown): str(model[unknown]) for unknown in sorted(model.decls(), key=str)}


def as_text(formula: Any) -> str:
    """The formula as an SMT-LIB 2.6 script that ends in `(check-sat)`: what both solvers are asked."""
    return f"(set-logic ALL)\n{_solver(formula).to_smt2()}"


def ask_cvc5(formula: Any) -> Answer:
    """cvc5's answer to the same formula; `ImportError` if cvc5 isn't installed."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("arrays-exp", "true")  # constant arrays, which the initial state has
    solver.setOption("tlimit-per", str(TIMEOUT_MILLISECONDS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, as_text(formula), "obligation")
    symbols = parser.getSymbolManager()
    answer = Answer.UNKNOWN
    while not (command := parser.nextCommand()).isNull():
        said = command.invoke(solver, symbols).strip()
        if said:
            answer = Answer(said.split()[0])  # "unknown" comes with its reason
    return answer
