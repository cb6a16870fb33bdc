"""Symbolic execution of a function's body: every expression of the subset has its meaning here, or raises.

An optional that is used as a number, or handed on as present, makes an obligation: that it is there, wherever this is
evaluated. The condition of the path and the short circuits of `and` and `or` are part of "wherever".
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from proof.terms import BOOL, INT, NONE, STR, Sort, Term, boolean, choose, constant, equal, variable

__all__ = ["Function", "IllTyped", "Leaf", "Module", "OutsideSubset", "Run", "outside"]


_MOST_CALLS = 8  # deeper than any chain of calls in the package; a recursion runs into it

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
}


_UNKNOWN = constant(BOOL, False)  # the value of a run before its body was executed


class OutsideSubset(Exception):
    """The file uses syntax that the translator has no meaning for."""


class IllTyped(Exception):
    """The file compares or returns values of different types."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One `return`: its line, and the condition under which it is reached."""

    line: int
    condition: Any


@dataclass(frozen=True, slots=True)
class Function:
    """A translated function."""

    name: str
    parameters: Mapping[str, Sort]
    positional: int
    """How many of the parameters, from the first, can be given by position."""
    result: Sort
    body: tuple[ast.stmt, ...]
    module: Module

    def variables(self, suffix: str = "") -> dict[str, Term]:
        """A free variable for each parameter."""
        return {name: variable(f"{name}{suffix}", sort) for name, sort in self.parameters.items()}

    def __call__(self, **arguments: Term) -> Term:
        """The function's value at these arguments."""
        return self.run(arguments).value

    def run(self, arguments: Mapping[str, Term], depth: int = 0) -> Run:
        """The function's value at these arguments, with its paths and with what must hold for it to have a value."""
        if set(arguments) != set(self.parameters):
            raise IllTyped(f"{self.name} takes {sorted(self.parameters)}, not {sorted(arguments)}")
        run = Run(self.module, {}, depth=depth)
        for name, sort in self.parameters.items():
            run.environment[name] = _coerced(arguments[name], sort, f"{self.name}({name})")
        run.value = _coerced(run.block(self.body, z3.BoolVal(True)), self.result, f"{self.name}'s result")
        return run


@dataclass(frozen=True, slots=True)
class Module:
    """A translated file: its enums and its functions, by name."""

    enums: dict[str, Sort] = field(default_factory=dict)
    constants: dict[str, Term] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)


@dataclass(slots=True)
class Run:
    """One symbolic execution of a function's body."""

    module: Module
    environment: dict[str, Term]
    leaves: list[Leaf] = field(default_factory=list)
    needs: list[Any] = field(default_factory=list)
    """Formulas that must be valid for CPython to raise nothing: optionals are there where a number is made of them."""
    value: Term = _UNKNOWN
    depth: int = 0

    def block(self, statements: tuple[ast.stmt, ...], path: Any) -> Term:
        """The value that a block returns; a block that can end without a `return` is outside the subset."""
        match statements:
            case (ast.Return(value=ast.expr() as value), *_):
                self.leaves.append(Leaf(value.lineno, path))
                if len(statements) > 1:
                    raise OutsideSubset(f"line {statements[1].lineno}: nothing reaches this")
                return self.expression(value, path)
            case (ast.If(test=test, body=body, orelse=orelse), *rest):
                condition = self.condition(test, path)
                then = self.block((*body,), z3.And(path, condition))
                other = self.block((*orelse, *rest), z3.And(path, z3.Not(condition)))
                return _joined(condition, then, other, test)
            case (first, *_):
                raise outside(first)
            case _:
                raise OutsideSubset("a block ends without a return")

    def condition(self, node: ast.expr, path: Any) -> Any:
        """A test, as a formula. Truth of anything but a bool is outside the subset."""
        term = self.expression(node, path)
        if term.sort != BOOL:
            raise IllTyped(f"line {node.lineno}: {ast.unparse(node)} is no bool but {term.sort}")
        return term.value

    def expression(self, node: ast.expr, path: Any) -> Term:
        """The value of an expression that is evaluated under the condition `path`."""
        match node:
            case ast.Constant(value=value):
                return _literal(node, value)
            case ast.Name(id=name) if name in self.environment:
                return self.environment[name]
            case ast.Name(id=name) if name in self.module.constants:
                return self.module.constants[name]
            case ast.Attribute(value=ast.Name(id=enum), attr=member) if enum in self.module.enums:
                return self._member(node, self.module.enums[enum], member)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return boolean(z3.Not(self.condition(operand, path)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Term(INT, -self._number(operand, path), z3.BoolVal(True))
            case ast.BoolOp(op=op, values=values):
                return boolean(self._connective(op, values, path))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                a, b = self._number(left, path), self._number(right, path)
                return Term(INT, a + b if isinstance(op, ast.Add) else a - b, z3.BoolVal(True))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.condition(test, path)
                then = self.expression(body, z3.And(path, condition))
                return _joined(condition, then, self.expression(orelse, z3.And(path, z3.Not(condition))), node)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return boolean(self._comparison(node, op, left, right, path))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in self.module.functions:
                return self._call(node, self.module.functions[name], args, keywords, path)
            case _:
                raise outside(node)

    def _member(self, node: ast.expr, sort: Sort, member: str) -> Term:
        if member not in sort.members:
            raise IllTyped(f"line {node.lineno}: {sort.name} has no member {member}")
        return constant(sort, member)

    def _connective(self, op: ast.boolop, values: list[ast.expr], path: Any) -> Any:
        """`and` and `or` evaluate their operands from the left, and only as far as they have to."""
        formula = self.condition(values[0], path)
        for value in values[1:]:
            if isinstance(op, ast.And):
                formula = z3.And(formula, self.condition(value, z3.And(path, formula)))
            else:
                formula = z3.Or(formula, self.condition(value, z3.And(path, z3.Not(formula))))
        return formula

    def _comparison(self, node: ast.Compare, op: ast.cmpop, left: ast.expr, right: ast.expr, path: Any) -> Any:
        if type(op) in _ORDER:
            return _ORDER[type(op)](self._number(left, path), self._number(right, path))
        a, b = self.expression(left, path), self.expression(right, path)
        if not _comparable(a.sort, b.sort):
            raise IllTyped(f"line {node.lineno}: {a.sort} and {b.sort} are never the same")
        identity = isinstance(op, ast.Is | ast.IsNot)
        if identity and NONE not in (a.sort, b.sort) and not a.sort.members:
            raise OutsideSubset(f"line {node.lineno}: identity of {a.sort} is an accident of the interpreter")
        if not identity and not isinstance(op, ast.Eq | ast.NotEq):
            raise outside(node)
        same = equal(a, b)
        return same if isinstance(op, ast.Is | ast.Eq) else z3.Not(same)

    def _number(self, node: ast.expr, path: Any) -> Any:
        """An operand of arithmetic or order: an int, which is there wherever this is evaluated."""
        term = self.expression(node, path)
        if term.sort.as_present() != INT:
            raise IllTyped(f"line {node.lineno}: {ast.unparse(node)} is no int but {term.sort}")
        if term.sort.optional:
            self.needs.append(z3.Implies(path, term.present))
        return term.value

    def _call(
        self, node: ast.expr, callee: Function, args: list[ast.expr], keywords: list[ast.keyword], path: Any
    ) -> Term:
        if len(args) > callee.positional:
            raise IllTyped(f"line {node.lineno}: {callee.name} takes {callee.positional} arguments by position")
        given = {name: self.expression(value, path) for name, value in zip(callee.parameters, args, strict=False)}
        for keyword in keywords:
            if keyword.arg is None or keyword.arg not in callee.parameters or keyword.arg in given:
                raise outside(node)
            given[keyword.arg] = self.expression(keyword.value, path)
        for name, term in given.items():
            if term.sort.optional and term.sort != NONE and not callee.parameters[name].optional:
                self.needs.append(z3.Implies(path, term.present))
                given[name] = Term(term.sort.as_present(), term.value, z3.BoolVal(True))
        if self.depth > _MOST_CALLS:
            raise OutsideSubset(f"line {node.lineno}: {callee.name} calls itself")
        inner = callee.run(given, self.depth + 1)
        self.needs.extend(z3.Implies(path, need) for need in inner.needs)
        return inner.value


def _literal(node: ast.expr, value: object) -> Term:
    if value is None:
        return constant(NONE, None)
    for sort, kind in ((BOOL, bool), (INT, int), (STR, str)):
        if type(value) is kind:
            return constant(sort, value)
    raise outside(node)


def _comparable(left: Sort, right: Sort) -> bool:
    if left == NONE or right == NONE:
        return left.optional and right.optional
    return left.as_present() == right.as_present()


def _joined(condition: Any, left: Term, right: Term, node: ast.expr) -> Term:
    if not _comparable(left.sort.as_optional(), right.sort.as_optional()):
        raise IllTyped(f"line {node.lineno}: one branch gives {left.sort}, the other {right.sort}")
    return choose(condition, left, right)


def _coerced(term: Term, sort: Sort, what: str) -> Term:
    if term.sort == NONE and sort.optional:
        return constant(sort, None)
    if term.sort.as_present() != sort.as_present() or (term.sort.optional and not sort.optional):
        raise IllTyped(f"{what} is {sort}, not {term.sort}")
    return Term(sort, term.value, term.present)


def outside(node: ast.stmt | ast.expr) -> OutsideSubset:
    """The error for a node that the translator has no meaning for."""
    return OutsideSubset(f"line {node.lineno}: {ast.unparse(node).splitlines()[0]}")
