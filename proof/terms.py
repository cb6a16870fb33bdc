"""Sorts and terms: what a Python value of the subset looks like to a solver.

An optional is a pair of "is it there" and a value, never a sentinel: None can't be mistaken for an id or a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import z3

__all__ = [
    "BOOL",
    "INT",
    "NONE",
    "STR",
    "Sort",
    "Term",
    "boolean",
    "choose",
    "constant",
    "enum_sort",
    "equal",
    "variable",
]


@dataclass(frozen=True, slots=True)
class Sort:
    """The type of a term. `members` is empty unless it is an enum."""

    name: str
    optional: bool = False
    members: tuple[str, ...] = ()

    def as_optional(self) -> Sort:
        """This sort, or None."""
        return Sort(self.name, True, self.members)

    def as_present(self) -> Sort:
        """This sort without None."""
        return Sort(self.name, False, self.members)

    def __str__(self) -> str:
        return f"{self.name} | None" if self.optional else self.name


INT, BOOL, STR, NONE = Sort("int"), Sort("bool"), Sort("str"), Sort("None", optional=True)


def enum_sort(name: str, members: tuple[str, ...]) -> Sort:
    """The sort of a closed enum."""
    return Sort(name, False, members)


@cache
def _datatype(name: str, members: tuple[str, ...]) -> tuple[Any, Mapping[str, Any]]:
    # z3 keeps one table of sorts, in which enums of the same name but of other members must not meet.
    datatype, constants = z3.EnumSort("_".join((name, *members)), [f"{name}.{member}" for member in members])
    return datatype, dict(zip(members, constants, strict=True))


def _z3_sort(sort: Sort) -> Any:
    if sort.members:
        return _datatype(sort.name, sort.members)[0]
    return {"int": z3.IntSort, "bool": z3.BoolSort, "str": z3.StringSort}[sort.name]()


@dataclass(frozen=True, slots=True)
class Term:
    """A value: whether it is there, and what it is if it is."""

    sort: Sort
    value: Any
    present: Any

    def member(self, name: str) -> Any:
        """Whether this enum term is the member `name`, as a formula."""
        return self.value == _datatype(self.sort.name, self.sort.members)[1][name]


def constant(sort: Sort, value: object) -> Term:
    """The term for a concrete value: an int, bool, string, member name of an enum, or None."""
    if value is None:
        if sort == NONE:
            return Term(sort, None, z3.BoolVal(False))
        return Term(sort, _default(sort), z3.BoolVal(False))
    if sort.members:
        return Term(sort, _datatype(sort.name, sort.members)[1][str(value)], z3.BoolVal(True))
    make = {"int": z3.IntVal, "bool": z3.BoolVal, "str": z3.StringVal}[sort.name]
    return Term(sort, make(value), z3.BoolVal(True))


def _default(sort: Sort) -> Any:
    if sort.members:
        return _datatype(sort.name, sort.members)[1][sort.members[0]]
    return {"int": z3.IntVal(0), "bool": z3.BoolVal(False), "str": z3.StringVal("")}[sort.name]


def variable(name: str, sort: Sort) -> Term:
    """A free variable, any value of its sort."""
    value = z3.Const(name, _z3_sort(sort))
    return Term(sort, value, z3.Bool(f"{name}?") if sort.optional else z3.BoolVal(True))


def boolean(formula: Any) -> Term:
    """The term of a formula."""
    return Term(BOOL, formula, z3.BoolVal(True))


def equal(left: Term, right: Term) -> Any:
    """Equality as Python has it on the subset: None equals None only."""
    if NONE in (left.sort, right.sort):
        return z3.And(z3.Not(left.present), z3.Not(right.present))
    return z3.And(left.present == right.present, z3.Implies(left.present, left.value == right.value))


def choose(condition: Any, left: Term, right: Term) -> Term:
    """`left` where the condition holds, `right` elsewhere."""
    if NONE in (left.sort, right.sort) and left.sort != right.sort:
        sort = (right if left.sort == NONE else left).sort.as_optional()
        left = constant(sort, None) if left.sort == NONE else left
        right = constant(sort, None) if right.sort == NONE else right
    sort = left.sort if left.sort.optional or not right.sort.optional else right.sort
    value = None if sort == NONE else z3.If(condition, left.value, right.value)
    return Term(sort, value, z3.If(condition, left.present, right.present))
