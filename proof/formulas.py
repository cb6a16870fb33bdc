"""What specs and laws are written with: calls of translated functions, and facts about their arguments, in words."""

from __future__ import annotations

from typing import Any

import z3

from proof.spec import Given
from proof.symbolic import Module
from proof.terms import INT, Term, boolean, equal, variable

__all__ = ["Call", "absent", "call", "is_any", "number", "present", "same", "some"]


def absent(term: Term) -> Any:
    """That an optional is None."""
    return z3.Not(term.present)


def present(term: Term) -> Any:
    """That an optional is not None."""
    return term.present


def same(left: Term, right: Term) -> Any:
    """That two values are equal."""
    return equal(left, right)


def is_any(term: Term, *members: str) -> Any:
    """That an enum's value is one of these members."""
    return z3.Or([term.member(member) for member in members])


def number(formula: Any) -> Term:
    """The term of an integer formula."""
    return Term(INT, formula, z3.BoolVal(True))


def some(formula: Any) -> Term:
    """An optional integer that is there."""
    return Term(INT.as_optional(), formula, z3.BoolVal(True))


class Call(Given):
    """A call at arguments about which nothing is known, unless they are given: its arguments by name, and `result`."""

    def __init__(self, module: Module, name: str, suffix: str, given: dict[str, Any]) -> None:
        function = module.functions[name]
        arguments = {
            parameter: _term(given[parameter]) if parameter in given else variable(f"{parameter}{suffix}", sort)
            for parameter, sort in function.parameters.items()
        }
        super().__init__(arguments)
        self.result = function(**arguments)


def _term(value: Any) -> Term:
    if isinstance(value, Term):
        return value
    if isinstance(value, bool):
        return boolean(z3.BoolVal(value))
    if isinstance(value, int):
        return number(z3.IntVal(value))
    return boolean(value) if z3.is_bool(value) else number(value)


def call(module: Module, name: str, suffix: str = "", **given: Any) -> Call:
    """Call a translated function; `suffix` keeps the unknown arguments of several calls apart."""
    return Call(module, name, suffix, given)
