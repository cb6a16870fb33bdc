"""Mutants of a decision file: small changes of its functions, each of which the obligations must refute.

The operators: comparisons, connectives and their operands, negations, arithmetic, constants, members of enums, named
strings, parameters of one type taken for another, and tests that are always true or never.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Mutant", "mutants"]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed file: the function and line of the change, what was changed, and the source."""

    function: str
    line: int
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.function}, line {self.line}: {self.change}"


Edit = tuple[str, Callable[[Any], None]]
"""What a change is called, and how it is made to a node of a copy of the tree."""


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a file, in the order of the file."""
    tree = ast.parse(source)
    words = [name for statement in tree.body if (name := _named_string(statement))]
    members = {
        statement.name: [
            part.targets[0].id
            for part in statement.body
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
        ]
        for statement in tree.body
        if isinstance(statement, ast.ClassDef)
    }
    for index, statement in enumerate(tree.body):
        if not isinstance(statement, ast.FunctionDef):
            continue
        edits = _Edits(_rivals(statement), members, words)
        for place, node in enumerate(_nodes(statement)):
            for change, edit in edits.of(node):
                changed = copy.deepcopy(tree)
                edit(_nodes(changed.body[index])[place])
                yield Mutant(statement.name, getattr(node, "lineno", 0), change, ast.unparse(changed))


def _nodes(function: ast.stmt) -> list[ast.AST]:
    """The nodes of a function's body; not those of its signature."""
    if not isinstance(function, ast.FunctionDef):
        raise TypeError(f"not a function: {ast.unparse(function)}")
    return [node for statement in function.body for node in ast.walk(statement)]


def _named_string(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str())):
            return name
        case _:
            return ""


def _rivals(function: ast.FunctionDef) -> dict[str, list[str]]:
    """For each parameter: the others of the same type."""
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    types = {p.arg: ast.unparse(p.annotation) if p.annotation else "" for p in parameters}
    return {name: [other for other in types if other != name and types[other] == types[name]] for name in types}


@dataclass(frozen=True, slots=True)
class _Edits:
    rivals: dict[str, list[str]]
    members: dict[str, list[str]]
    words: list[str]

    def of(self, node: ast.AST) -> Iterator[Edit]:
        """The changes that can be made to a node."""
        match node:
            case ast.Compare(ops=[op]):
                for other in _COMPARISONS[type(op)]:
                    yield f"{type(op).__name__} becomes {other.__name__}", _set("ops", [other()])
            case ast.BoolOp(op=op, values=values):
                other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
                yield f"{type(op).__name__} becomes {type(other_op).__name__}", _set("op", other_op)
                for number in range(len(values)):
                    rest = values[:number] + values[number + 1 :]
                    yield f"{ast.unparse(values[number])} is dropped", _set("values", rest)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield "not is dropped", _set("operand", ast.UnaryOp(ast.Not(), operand))
            case ast.BinOp(op=op):
                yield "the sign is turned", _set("op", ast.Sub() if isinstance(op, ast.Add) else ast.Add())
            case ast.If(test=test):
                for truth in (True, False):
                    yield f"{ast.unparse(test)} is always {truth}", _set("test", ast.Constant(truth))
            case ast.Attribute(value=ast.Name(id=enum), attr=attr):
                for member in self.members[enum]:
                    if member != attr:
                        yield f"{attr} becomes {member}", _set("attr", member)
            case ast.Constant(value=bool(value)):
                yield f"{value} becomes {not value}", _set("value", not value)
            case ast.Constant(value=int(value)):
                for step in (-1, 1):
                    yield f"{value} becomes {value + step}", _set("value", value + step)
            case ast.Name(id=name) if name in self.rivals:
                for rival in self.rivals[name]:
                    yield f"{name} becomes {rival}", _set("id", rival)
            case ast.Name(id=name) if name in self.words:
                for word in (self.words[self.words.index(name) - 1], self.words[self.words.index(name) - 2]):
                    yield f"{name} becomes {word}", _set("id", word)


def _set(field: str, value: object) -> Callable[[Any], None]:
    return lambda node: setattr(node, field, copy.deepcopy(value))
