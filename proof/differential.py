"""The translated function against CPython's: the same values, at boundaries and at random.

A proof is about the translation. That the translation means what CPython does is not proved but tested, on every
combination of boundary values (sampled where there are too many) and on random ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from itertools import islice, product
from typing import Any

import z3

from proof.symbolic import Function, Module
from proof.terms import Sort, Term, constant

__all__ = ["disagreements"]

_INTEGERS = (0, 1, 2, -1)
_STRINGS = ("", "a", "b")


def disagreements(module: Module, shipped: Any, *, calls: int, seed: int) -> tuple[int, list[str]]:
    """Call every function of a file in both ways; return how many calls were made, and those that differ."""
    made, found = 0, []
    for function in module.functions.values():
        for values in _inputs(function, calls, random.Random(f"{seed}/{function.name}")):
            made += 1
            expected = _plain(_called(getattr(shipped, function.name), values, function, shipped))
            got = _evaluated(function, values)
            if got != expected:
                found.append(f"{function.name}({values}) is {expected!r}, and {got!r} as a term")
    return made, found


def _inputs(function: Function, calls: int, chance: random.Random) -> Iterator[Mapping[str, Any]]:
    """Boundary values, all combinations if they are few, and random values: `calls` in all."""
    words = (*_STRINGS, *(term.value.as_string() for term in function.module.constants.values()))
    choices = [_boundary(sort, words) for sort in function.parameters.values()]
    size = 1
    for choice in choices:
        size *= len(choice)
    combinations = list(islice(product(*choices), calls)) if size <= calls else []
    for combination in combinations:
        yield dict(zip(function.parameters, combination, strict=True))
    for _ in range(calls - len(combinations)):
        yield {
            name: chance.choice(choice) if sort.name != "int" or chance.random() < 0.7 else chance.randint(-9, 9)
            for (name, sort), choice in zip(function.parameters.items(), choices, strict=True)
        }


def _boundary(sort: Sort, words: tuple[str, ...]) -> tuple[Any, ...]:
    none = (None,) if sort.optional else ()
    if sort.members:
        return none + sort.members
    return none + {"int": _INTEGERS, "bool": (False, True), "str": words}[sort.name]


def _called(function: Callable[..., Any], values: Mapping[str, Any], of: Function, shipped: Any) -> Any:
    """CPython's answer; members of enums are given as the enum's."""
    arguments = {
        name: getattr(shipped, of.parameters[name].name)[value] if of.parameters[name].members else value
        for name, value in values.items()
    }
    return function(**arguments)


def _plain(value: Any) -> Any:
    return value.name if isinstance(value, StrEnum) else value


def _evaluated(function: Function, values: Mapping[str, Any]) -> Any:
    """The term's value at constant arguments; a term that doesn't reduce to a value shows as its text."""
    arguments = {name: constant(sort, values[name]) for name, sort in function.parameters.items()}
    result: Term = function(**arguments)
    if not z3.is_true(z3.simplify(result.present)):
        return None
    value = z3.simplify(result.value)
    if z3.is_true(value) or z3.is_false(value):
        return z3.is_true(value)
    if z3.is_int_value(value):
        return value.as_long()
    if z3.is_string_value(value):
        return value.as_string()
    return value.decl().name().rpartition(".")[2]
