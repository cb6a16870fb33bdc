"""Where a framework decides what the contract asks about: places in its source, found in the release that is installed.

A site is data beside the plane (`sites.toml`): a symbol, and a text inside it. File and line are looked up by parsing
the installed source, without importing it, so that they are those of the release at hand.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from resumption.contract.properties import Property
from resumption.planes.interface import PlaneSpec

__all__ = ["Anchor", "Site", "anchors", "find_line"]

_FILE = "sites.toml"

_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place where a framework decides."""

    property: Property
    """The property that depends on the decision."""
    decides: str
    """What is decided there, and how."""
    module: str
    symbol: str
    """A function, or a method as `Class.method`."""
    text: str
    """What the line holds."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A site in the release that is installed."""

    site: Site
    version: str
    file: str
    """The path within the installation."""
    line: int | None
    """None if this release has no such symbol, or no such text in it: what the site says may not hold for it."""


def anchors(spec: PlaneSpec) -> tuple[Anchor, ...]:
    """Look up the sites of a plane; empty if it has none, or its framework isn't installed."""
    package = resources.files(spec.adapter.rpartition(".")[0])
    if not package.joinpath(_FILE).is_file():
        return ()
    try:
        installed = distribution(spec.package)
    except PackageNotFoundError:
        return ()
    root = Path(str(installed.locate_file("")))
    return tuple(
        Anchor(site, installed.version, file, _line_in(root / file, site))
        for site in _read(package.joinpath(_FILE).read_text(encoding="utf-8"))
        for file in [f"{site.module.replace('.', '/')}.py"]
    )


def find_line(source: str, symbol: str, text: str) -> int | None:
    """The number of the first line of `symbol` that holds `text`; None if there is none."""
    scope: _Scope = ast.parse(source)
    for name in symbol.split("."):
        inner = [part for part in _scopes(scope) if part.name == name]
        if not inner:
            return None
        scope = inner[-1]  # overloads come before the implementation
    if isinstance(scope, ast.Module):
        return None
    lines = source.splitlines()
    numbers = range(scope.lineno, (scope.end_lineno or scope.lineno) + 1)
    return next((number for number in numbers if text in lines[number - 1]), None)


def _scopes(scope: _Scope) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for part in scope.body:
        if isinstance(part, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield part


def _read(text: str) -> Iterator[Site]:
    for entry in tomllib.loads(text)["site"]:
        yield Site(**{**entry, "property": Property(entry["property"])})


def _line_in(file: Path, site: Site) -> int | None:
    try:
        source = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return find_line(source, site.symbol, site.text)
