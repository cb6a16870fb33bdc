"""Mutants of the semantics: every conjunct dropped, every comparison flipped, every step off by one.

The mutated file is written to a folder and imported from there, so that a traceback tells the mutant's own exceptions
from the harness's.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from resumption.model import semantics

SOURCE = Path(semantics.__file__)

FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NUDGED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


@dataclass(frozen=True)
class Mutant:
    """One changed file and what was changed, by line of the original."""

    name: str
    source: str


@cache
def mutants() -> tuple[Mutant, ...]:
    """Every mutant of every function of the semantics."""
    return tuple(_mutants())


def _mutants() -> Iterator[Mutant]:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    functions = [index for index, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef)]
    for index in functions:
        function = tree.body[index]
        assert isinstance(function, ast.FunctionDef)
        for change, mutated in _mutations(function):
            whole = copy.copy(tree)
            whole.body = [*tree.body[:index], mutated, *tree.body[index + 1 :]]
            yield Mutant(f"{function.name}: {change}", ast.unparse(ast.fix_missing_locations(whole)))


def _mutations(function: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    for position, node in enumerate(ast.walk(function)):
        for change, replacement in _replacements(node):
            mutated = copy.deepcopy(function)
            target = next(each for at, each in enumerate(ast.walk(mutated)) if at == position)
            _overwrite(target, replacement)
            yield f"{change} in `{ast.unparse(node)}`", mutated


def _replacements(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.BoolOp):
        for index, value in enumerate(node.values):
            rest = [*node.values[:index], *node.values[index + 1 :]]
            kept = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            yield f"drop `{ast.unparse(value)}`", kept
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "drop not", node.operand
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for table, change in ((FLIPPED, "flip"), (NUDGED, "nudge")):
                if type(operator) in table:
                    operators = [*node.ops[:index], table[type(operator)](), *node.ops[index + 1 :]]
                    yield f"{change} {index}", ast.Compare(node.left, operators, node.comparators)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant):
        yield "drop + 1", node.left
    if isinstance(node, ast.IfExp):
        yield "swap branches", ast.IfExp(node.test, node.orelse, node.body)


def _overwrite(target: ast.AST, replacement: ast.expr) -> None:
    target.__class__ = type(replacement)
    target.__dict__.clear()
    target.__dict__.update(copy.deepcopy(replacement).__dict__)


def load(mutant: Mutant, folder: Path) -> ModuleType:
    """Import the mutant as a module of its own."""
    path = folder / "mutated_semantics.py"
    path.write_text(mutant.source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("mutated_semantics", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutated_semantics"] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["mutated_semantics"]
    return module
