"""What the tests of every family check of its specs, statements and locks, without its framework."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Sequence
from pathlib import Path

from resumption.harness.locks import read_recipe
from resumption.planes.interface import Operation, PlaneSpec
from resumption.planes.statements import cited_by, load

__all__ = ["check_locks", "check_statements", "documented_forms", "is_quoted"]

_FOLDER = Path(importlib.import_module("resumption.planes").__file__ or "").parent
_LINK = re.compile(r"\[([^\]]*)\](\[[^\]]*\]|\([^)]*\))")


def documented_forms(spec: PlaneSpec) -> set[str]:
    """The forms of a plane that a statement documents."""
    citations = load(spec)
    return {form.name for form in spec.forms if cited_by(citations, form)}


def check_statements(specs: Sequence[PlaneSpec]) -> None:
    """Each statement names forms and paths that exist, and each primary form is documented."""
    found = {citation for spec in specs for citation in load(spec)}
    assert {form for citation in found for form in citation.forms} <= {f.name for spec in specs for f in spec.forms}
    assert {path for citation in found for path in citation.paths} <= {spec.path for spec in specs}
    for spec in specs:
        for operation in (Operation.DELIVER, Operation.RECOVER):
            primary = spec.forms_of(operation)[:1]
            assert {form.name for form in primary} <= documented_forms(spec)


def check_locks(spec: PlaneSpec) -> None:
    """Each release of the recipe has a lock that pins it, whose every line has hashes and names no place."""
    folder = _FOLDER.joinpath(*spec.adapter.split(".")[2:-1]) / "locks"
    releases = set(read_recipe(spec).releases)
    assert {lock.stem for lock in folder.glob("*.txt")} == releases
    for release in releases:
        text = (folder / f"{release}.txt").read_text(encoding="utf-8")
        pins = re.split(r"\n(?=\S)", text.strip())
        assert any(pin.startswith(f"{spec.package}=={release} ") for pin in pins)
        assert all("--hash=sha256:" in pin for pin in pins)
        assert "://" not in text
        assert "--index-url" not in text


def is_quoted(text: str, place: str) -> bool:
    """Whether a docstring, `module:object`, holds a text word for word."""
    module, _, name = place.partition(":")
    target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    return _plain(text) in _plain(inspect.getdoc(target) or "")


def _plain(text: str) -> str:
    """The words of a text, without line breaks and marks of emphasis, code and links."""
    return " ".join(_LINK.sub(r"\1", text).replace("*", "").replace("`", "").split())
