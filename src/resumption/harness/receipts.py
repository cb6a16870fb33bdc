"""Receipts: everything that a run of the suite measured, in one JSON file that can be judged and compared later.

A receipt keeps the histories themselves, so that any verdict in it can be derived again without running anything.
"""

from __future__ import annotations

import builtins
import hashlib
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Label, Measured, merge
from resumption.errors import ReceiptUnreadable
from resumption.planes.interface import Operation

__all__ = [
    "FORMAT",
    "Cell",
    "Part",
    "Receipt",
    "Row",
    "chosen_probes",
    "matrix",
    "new_receipt",
    "read_receipt",
    "stable_view",
    "write",
]

FORMAT = "resumption.receipt/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one probe contributed to a cell."""

    probe: str
    trials: int
    measured: Measured
    label: Label
    findings: tuple[Finding, ...] = ()
    histories: tuple[str, ...] = ()
    """Identities of the histories that the probe recorded here."""
    reason: str = ""
    """Why the probe could not tell, did not run, or had nothing to exercise."""
    note: str = ""
    """What was observed besides, such as the frequency of a race. Not part of the stable view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One verdict: a property of one plane, on one path, backend and resume form."""

    plane: str
    version: str
    path: str
    backend: str
    property: Property
    facet: Facet = Facet.CELL
    operation: Operation | None = None
    form: str = ""
    primary: bool = True
    """Whether the form is the primary one of its operation: those make the matrix."""
    measured: Measured
    label: Label
    strict: Label
    """The label under the strict rule, by which any breach violates."""
    citations: tuple[str, ...] = ()
    """Identities of the statements that the label rests on, in the plane's `statements.toml`."""
    parts: tuple[Part, ...] = ()
    accepted: str = ""
    """The reason for which a user accepted this cell, if one did."""

    @builtins.property  # the field `property` hides the builtin here
    def identity(self) -> str:
        """The name by which `--accept` and baselines know the cell: everything but the version."""
        place = f"{self.plane}/{self.path}/{self.backend}/{self.property}"
        detail = [self.operation or "", self.form] if self.form else []
        if self.facet is not Facet.CELL:
            detail.append(self.facet)
        return "/".join([place, *detail])


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A whole run of the suite."""

    format: str = FORMAT
    created: str
    host: str
    platform: str
    python: str
    pins: dict[str, dict[str, str]]
    """Versions of every distribution in the environment of each plane, by the plane's name."""
    cells: tuple[Cell, ...]
    histories: dict[str, str] = field(default_factory=dict)
    """The recorded histories, as NDJSON text."""
    drills: dict[str, str] = field(default_factory=dict)
    """What was asked of each drill, by the program's name, as JSON text; empty for a receipt of `check`."""
    probes: tuple[str, ...] = ()
    """The addresses of the probes that were chosen; empty where nobody says it: for a drill, and in older receipts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the matrix."""

    plane: str
    version: str
    path: str
    backend: str
    labels: dict[Property, Label]


def new_receipt(cells: Iterable[Cell], histories: dict[str, str], pins: dict[str, dict[str, str]]) -> Receipt:
    """Make the receipt of a run that ended now, on this machine."""
    return Receipt(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        host=hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        platform=platform.platform(),
        python=platform.python_version(),
        pins=pins,
        cells=tuple(cells),
        histories=histories,
    )


def chosen_probes(receipts: Sequence[Receipt]) -> tuple[str, ...]:
    """The probes that were chosen for any of the receipts; none, where one of them doesn't tell."""
    if not all(receipt.probes for receipt in receipts):
        return ()
    return tuple(dict.fromkeys(address for receipt in receipts for address in receipt.probes))


def write(receipt: Receipt, path: Path) -> None:
    """Write a receipt; raises `OSError` if that can't be done."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(receipt), indent=1) + b"\n")


def read_receipt(path: Path) -> Receipt:
    """Read a receipt. Raises `ReceiptUnreadable` if the file is no receipt of this format."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ReceiptUnreadable(
            f"The receipt {path} can't be read: {error.strerror}.", advice="Check the path and its permissions."
        ) from error
    try:
        receipt = msgspec.json.decode(raw, type=Receipt)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ReceiptUnreadable(
            f"{path} is no receipt: {error}.", advice=f"Receipts are what `--json` writes, of format {FORMAT}."
        ) from error
    if receipt.format != FORMAT:
        raise ReceiptUnreadable(
            f"{path} has the format {receipt.format!r}.", advice=f"This version reads {FORMAT}; measure again with it."
        )
    return receipt


def matrix(cells: Iterable[Cell]) -> tuple[Row, ...]:
    """The rows of the matrix: what the primary forms' cells say together."""
    rows: dict[tuple[str, str, str, str], dict[Property, list[Label]]] = {}
    for cell in cells:
        row = rows.setdefault((cell.plane, cell.version, cell.path, cell.backend), {})
        if cell.primary and cell.facet is Facet.CELL:
            row.setdefault(cell.property, []).append(cell.label)
    return tuple(
        Row(
            plane=plane,
            version=version,
            path=path,
            backend=backend,
            labels={property_: merge(labels) for property_, labels in row.items()},
        )
        for (plane, version, path, backend), row in rows.items()
    )


def stable_view(receipt: Receipt) -> bytes:
    """The part of a receipt that doesn't depend on time, host, Python or chance, as canonical JSON."""
    cells: list[Any] = [
        {
            "cell": cell.identity,
            "version": cell.version,
            "measured": cell.measured,
            "label": cell.label,
            "strict": cell.strict,
            "citations": cell.citations,
            "probes": {part.probe: part.measured for part in cell.parts},
        }
        for cell in sorted(receipt.cells, key=lambda cell: cell.identity)
    ]
    return (
        msgspec.json.format(msgspec.json.encode({"format": FORMAT, "cells": cells}, order="sorted"), indent=1) + b"\n"
    )


def accept(receipt: Receipt, identity: str, reason: str) -> Receipt:
    """Mark the cells of one identity as accepted. Raises `ValueError` if the receipt has none."""
    if not any(cell.identity == identity for cell in receipt.cells):
        raise ValueError(identity)
    return replace(
        receipt,
        cells=tuple(replace(cell, accepted=reason) if cell.identity == identity else cell for cell in receipt.cells),
    )
