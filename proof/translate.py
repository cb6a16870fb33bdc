"""From a shipped decision file to solver terms. Whatever is outside the subset raises; nothing is skipped in silence.

The subset: a docstring, imports, `__all__`, enums of strings, named strings, and functions whose bodies consist of
`if`, `return` and expressions over `int`, `bool`, `str`, enums and optionals of these. There are no loops, assignments,
attributes or calls, except calls of functions of the same file.
"""

from __future__ import annotations

import ast
from pathlib import Path

from proof.symbolic import Function, IllTyped, Module, OutsideSubset, outside
from proof.terms import BOOL, INT, STR, Sort, constant, enum_sort

__all__ = ["translate", "translate_file"]


def translate_file(path: Path) -> Module:
    """Translate the file as it stands."""
    return translate(path.read_text(encoding="utf-8"))


def translate(source: str) -> Module:
    """Translate a source text. Raises `OutsideSubset` or `IllTyped`; the message names the line."""
    module = Module()
    statements = ast.parse(source).body
    _refuse_shadowing(statements)
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            module.enums[statement.name] = _enum(statement)
        elif isinstance(statement, ast.FunctionDef):
            module.functions[statement.name] = _function(statement, module)
        elif not _is_ignored(statement):
            name, word = _named_string(statement)
            module.constants[name] = constant(STR, word)
    for function in module.functions.values():
        function.run(function.variables())
    return module


def _refuse_shadowing(statements: list[ast.stmt]) -> None:
    """A name means one thing in a file: neither a second definition nor a parameter takes it over."""
    taken: set[str] = set()
    functions = [statement for statement in statements if isinstance(statement, ast.FunctionDef)]
    for statement in statements:
        names = [statement.name] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else []
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        if taken.intersection(names):
            raise outside(statement)
        taken.update(names)
    for function in functions:
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if taken.intersection(parameter.arg for parameter in parameters):
            raise outside(function)


def _named_string(statement: ast.stmt) -> tuple[str, str]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(word))):
            return name, word
        case _:
            raise outside(statement)


def _is_ignored(statement: ast.stmt) -> bool:
    """Docstrings, `__all__`, and imports that only bring in names for annotations and enum bases."""
    match statement:
        case ast.ImportFrom(module="__future__"):
            return True
        case ast.ImportFrom(module="enum", names=[ast.alias(name="StrEnum", asname=None)]):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=elements)):
            return all(isinstance(element, ast.Constant) for element in elements)
        case _:
            return _is_docstring(statement)


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _enum(definition: ast.ClassDef) -> Sort:
    bases = [base.id for base in definition.bases if isinstance(base, ast.Name)]
    if bases != ["StrEnum"] or len(definition.bases) != 1 or definition.decorator_list or definition.keywords:
        raise outside(definition)
    members: dict[str, str] = {}
    for statement in definition.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(word))):
                if name in members or word in members.values():
                    raise IllTyped(f"line {statement.lineno}: {name} repeats a member")
                members[name] = word
            case _ if _is_docstring(statement):
                continue
            case _:
                raise outside(statement)
    return enum_sort(definition.name, tuple(members))


def _function(definition: ast.FunctionDef, module: Module) -> Function:
    arguments = definition.args
    if definition.decorator_list or arguments.vararg or arguments.kwarg or arguments.defaults:
        raise outside(definition)
    if any(default is not None for default in arguments.kw_defaults) or definition.returns is None:
        raise outside(definition)
    parameters = {
        argument.arg: _annotation(argument.annotation, module)
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    }
    body = tuple(statement for statement in definition.body if not _is_docstring(statement))
    positional = len(arguments.posonlyargs) + len(arguments.args)
    return Function(definition.name, parameters, positional, _annotation(definition.returns, module), body, module)


def _annotation(node: ast.expr | None, module: Module) -> Sort:
    match node:
        case ast.Name(id="int"):
            return INT
        case ast.Name(id="bool"):
            return BOOL
        case ast.Name(id="str"):
            return STR
        case ast.Name(id=name) if name in module.enums:
            return module.enums[name]
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return _annotation(left, module).as_optional()
        case _:
            raise OutsideSubset(f"an annotation the translator doesn't know: {ast.unparse(node) if node else 'none'}")
