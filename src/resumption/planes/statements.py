"""What a framework states of itself: citable sentences, kept as data beside each plane.

The classification rule needs to know whether a breach contradicts something that the framework promises, or is covered
by something weaker that it documents. Both are quoted word for word in the `statements.toml` of the plane's package,
with the place, the versions they hold for, and the day they were read. The file also documents the resume forms.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from importlib import resources
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.errors import StatementsUnreadable
from resumption.planes.interface import Form, PlaneSpec

__all__ = ["Bears", "Citation", "bearing", "cited_by", "load", "parse"]

_FILE = "statements.toml"


class Bears(StrEnum):
    """What a statement is evidence of."""

    PROMISE = "promise"
    """The framework says that the property holds: a breach contradicts it."""
    WEAKER = "weaker"
    """The framework says that less than the property holds: a breach is a documented divergence."""
    FORM = "form"
    """The framework documents a way to resume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One statement, quoted word for word, and what it bears on."""

    id: str
    bears: Bears
    text: str
    place: str
    """Where it stands: an address and heading, `module:object` for a docstring, or a distribution's README."""
    versions: SpecifierSet
    """The versions of the plane's package that it was found to hold for, such as `>=1.0,<2`."""
    read: date
    """The day it was read there."""
    property: Property | None = None
    """The property it bears on; None for a statement that documents a form."""
    facet: Facet | None = None
    """The facet of the property that it speaks of; None if it speaks of all."""
    forms: tuple[str, ...] = ()
    """The resume forms it speaks of; empty if it speaks of all."""
    paths: tuple[str, ...] = ()
    """The mechanisms (`PlaneSpec.path`) it speaks of; empty if it speaks of all."""
    probes: tuple[str, ...] = ()
    """The situations it speaks of, by how the addresses of their probes begin; empty if it speaks of all."""

    def bears_on(self, property: Property, facet: Facet, form: str, probe: str = "") -> bool:
        """Tell whether the statement is evidence on this part of this property, for this resume form.

        With a probe's address, in the situation that the probe makes; without one, in any.
        """
        if self.property is not property or self.facet not in (None, facet) or (self.forms and form not in self.forms):
            return False
        return not probe or not self.probes or probe.startswith(self.probes)

    def covers(self, version: str) -> bool:
        """Tell whether the statement holds for this version of the plane's package."""
        return self.versions.contains(version, prereleases=True)


def load(spec: PlaneSpec) -> tuple[Citation, ...]:
    """Return what a plane's framework states of that plane; nothing for a plane that lives in this package.

    Raises `StatementsUnreadable` if the file is missing, malformed, says a thing twice, or lacks what a form names.
    """
    if not spec.package:
        return ()
    package = spec.adapter.rpartition(".")[0]
    try:
        text = resources.files(package).joinpath(_FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise _unreadable(package, f"it can't be read ({error.strerror})") from error
    citations = tuple(found for found in parse(text, package) if not found.paths or spec.path in found.paths)
    for form in spec.forms:
        try:
            cited_by(citations, form)
        except KeyError as error:
            raise _unreadable(
                package,
                f"the form {form.name!r} names the statement {form.statement!r}, and no form statement has that id",
            ) from error
    return citations


def parse(text: str, name: str) -> tuple[Citation, ...]:
    """Return the statements that a file's text holds; `name` stands for the file in errors."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(name, f"it is no TOML ({error})") from error
    entries = content.pop("statement", None)
    if content or not isinstance(entries, list) or not entries or not all(isinstance(item, dict) for item in entries):
        raise _unreadable(name, "it is not a list of [[statement]] tables and nothing else")
    citations: dict[str, Citation] = {}
    for place, entry in enumerate(entries, 1):
        try:
            citation = _citation(entry)
        except ValueError as error:
            raise _unreadable(name, f"statement {place} ({entry.get('id', 'without id')}): {error}") from error
        if citation.id in citations:
            raise _unreadable(name, f"two statements have the id {citation.id!r}")
        citations[citation.id] = citation
    return tuple(citations.values())


def bearing(
    citations: Iterable[Citation], property: Property, *, facet: Facet, form: str, version: str, probe: str = ""
) -> tuple[Citation, ...]:
    """Return the statements that bear on a facet of `property`, for a resume form and a version of the package.

    `probe` is the address of the probe that made the situation; empty for any.
    """
    return tuple(
        citation
        for citation in citations
        if citation.bears_on(property, facet, form, probe) and citation.covers(version)
    )


def cited_by(citations: Iterable[Citation], form: Form) -> Citation | None:
    """Return the statement that documents `form`; None if it names none.

    Raises `KeyError` if no statement that documents a form has that name.
    """
    if not form.statement:
        return None
    found = {citation.id: citation for citation in citations if citation.bears is Bears.FORM}
    return found[form.statement]


def _unreadable(name: str, why: str) -> StatementsUnreadable:
    return StatementsUnreadable(
        f"The {_FILE} of {name} is not a file of citable statements: {why}.",
        advice="Compare it with that of another plane; the fields are those of resumption.planes.statements.Citation.",
    )


# One entry ----------------------------------------------------------------------------------------------------------


def _citation(entry: Mapping[str, Any]) -> Citation:
    if unknown := sorted(set(entry) - set(_READERS)):
        raise ValueError(f"there is no field {unknown[0]!r}")
    if missing := sorted(_REQUIRED - set(entry)):
        raise ValueError(f"the field {missing[0]!r} is missing")
    citation = Citation(**{field: read(entry[field]) for field, read in _READERS.items() if field in entry})
    if (citation.bears is Bears.FORM) != (citation.property is None):
        raise ValueError("a promise or a weaker statement has a property, and a form has none")
    return citation


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"a text is expected, not {value!r}")
    return value


def _one_of(kind: type[StrEnum], value: Any) -> StrEnum:
    text = _text(value)
    if text not in list(kind):
        raise ValueError(f"{text!r} is none of {', '.join(kind)}")
    return kind(text)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"a list of texts is expected, not {value!r}")
    return tuple(_text(item) for item in value)


def _date(value: Any) -> date:
    if type(value) is not date:
        raise ValueError(f"a date is expected, not {value!r}")
    return value


def _versions(value: Any) -> SpecifierSet:
    try:
        return SpecifierSet(_text(value))
    except InvalidSpecifier:
        raise ValueError(f"{value!r} is no comparison of versions, such as >=1.2") from None


_READERS: dict[str, Callable[[Any], Any]] = {
    "id": _text,
    "bears": lambda value: _one_of(Bears, value),
    "text": _text,
    "place": _text,
    "versions": _versions,
    "read": _date,
    "property": lambda value: _one_of(Property, value),
    "facet": lambda value: _one_of(Facet, value),
    "forms": _texts,
    "paths": _texts,
    "probes": _texts,
}
_REQUIRED = {"id", "bears", "text", "place", "versions", "read"}
