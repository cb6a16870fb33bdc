"""Verdicts derived again from a receipt's histories, without running anything; and receipts cut to what they rest on.

A part of a cell whose histories are kept is judged again and labelled by the statements of today; one without histories
(nothing applied, nothing could be run or told) stands as it is. A part that claims to have measured something and keeps
no history for it is inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from resumption.contract.judges import judge
from resumption.contract.properties import Property
from resumption.contract.verdicts import Judgement, Label, Measured, merge, merge_measured
from resumption.errors import ReceiptUnreadable, UnknownName
from resumption.harness.cells import Verdict, verdict
from resumption.harness.probes import Probe
from resumption.harness.receipts import Cell, Part, Receipt, chosen_probes
from resumption.history.history import History
from resumption.history.ndjson import decode_history
from resumption.planes.interface import Form, PlaneSpec
from resumption.planes.registry import specs
from resumption.planes.statements import Citation, bearing, load

__all__ = ["Disagreement", "compact", "disagreements", "extend", "is_of_drill", "rejudge", "silent_on"]

_ADVICE = "Take the receipt as it was written, or measure again."
_ROOTS = b"|".join(b"data dev home mnt opt private root srv tmp usr var work Users Volumes".split())
_MACHINE = re.compile(rb"/(?:" + _ROOTS + rb")/(?:[\w.@+-]+/)*([\w.@+-]+)")
_MEASURED_NOTHING = {Label.NOT_APPLICABLE, Label.NOT_RUN, Label.INCONCLUSIVE}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A cell, or one probe's part of it, whose verdict is not what its histories say."""

    cell: str
    version: str
    probe: str
    said: str
    found: str

    def __str__(self) -> str:
        where = f"{self.cell} ({self.version})" if self.version else self.cell
        return f"{where}, {self.probe or 'the whole cell'}: says {self.said}, and its histories say {self.found}"


def rejudge(receipt: Receipt) -> Receipt:
    """The receipt with every verdict derived from its histories again; those of drills stand as they are.

    Raises `UnknownName` for a plane or a form that isn't known here, and `HistoryUnreadable` for a broken history.
    """
    bench = _Bench(receipt)
    return replace(receipt, cells=tuple(bench.cell(cell) for cell in receipt.cells))


def disagreements(receipt: Receipt) -> tuple[Disagreement, ...]:
    """Where the receipt says other than its histories do; raises as `rejudge` does."""
    found: list[Disagreement] = []
    for said, derived in zip(receipt.cells, rejudge(receipt).cells, strict=True):
        pairs: list[tuple[str, Cell | Part, Cell | Part]] = [("", said, derived)]
        pairs += [(part.probe, part, again) for part, again in zip(said.parts, derived.parts, strict=True)]
        for probe, before, after in pairs:
            told, again = _verdict_of(before), _verdict_of(after)
            if told == again:
                told, again = _findings_of(before), _findings_of(after)
            if told != again:
                found.append(Disagreement(said.identity, said.version, probe, told, again))
    return tuple(found)


def _verdict_of(said: Cell | Part) -> str:
    told = f"{said.measured}, {said.label}"
    if isinstance(said, Cell):
        return f"{told}, strictly {said.strict}, by {', '.join(said.citations) or 'no statement'}"
    return told


def _findings_of(said: Cell | Part) -> str:
    if isinstance(said, Cell):
        return ""
    return "; ".join(sorted(finding.summary for finding in said.findings)) or "nothing"


def is_of_drill(receipt: Receipt, cell: Cell) -> bool:
    """Whether a cell is what a drill of a user's program showed."""
    return cell.plane in receipt.drills


def silent_on(receipt: Receipt, probes: Iterable[Probe]) -> tuple[Probe, ...]:
    """The probes that no cell of a receipt knows: they were added later, or passed the plane by."""
    known = {part.probe for cell in receipt.cells for part in cell.parts}
    return tuple(probe for probe in probes if probe.address not in known)


def compact(receipt: Receipt) -> Receipt:
    """The receipt with no more histories than its verdicts rest on: one for each finding, or one that bears witness.

    Its findings are those of the histories that were kept. Of paths of the machine that measured, which errors tell,
    only the last name stays. Raises as `rejudge` does.
    """
    receipt = msgspec.json.decode(_MACHINE.sub(rb"\1", msgspec.json.encode(receipt)), type=Receipt)
    bench = _Bench(receipt)
    kept: dict[str, str] = {}
    cells = []
    for cell in receipt.cells:
        parts = []
        for part in cell.parts:
            chosen = bench.sufficient(cell, part, known=kept)
            kept |= {name: receipt.histories[name] for name in chosen}
            parts.append(replace(part, histories=tuple(chosen)))
        cells.append(replace(cell, parts=tuple(parts)))
    return rejudge(replace(receipt, cells=tuple(cells), histories=kept))


def extend(receipt: Receipt, later: Receipt) -> Receipt:
    """A receipt with what probes measured later, of the same planes with the same distributions.

    What such a probe had measured of a plane before gives way to it. Raises `ReceiptUnreadable` if the distributions
    differ.
    """
    if any(receipt.pins.get(plane, pins) != pins for plane, pins in later.pins.items()):
        raise ReceiptUnreadable(
            "The later receipt is of other distributions.", advice="Measure all probes again, in one environment."
        )
    again = {(_plane(cell), part.probe) for cell in later.cells for part in cell.parts}
    cells: dict[tuple[str, str], Cell] = {}
    for cell in receipt.cells:
        parts = tuple(part for part in cell.parts if (_plane(cell), part.probe) not in again)
        if parts or not cell.parts:
            cells[_place(cell)] = replace(cell, parts=parts)
    for cell in later.cells:
        known = cells.get(_place(cell))
        cells[_place(cell)] = replace(known, parts=(*known.parts, *cell.parts)) if known else cell
    told = {name for cell in cells.values() for part in cell.parts for name in part.histories}
    histories = {**receipt.histories, **later.histories}
    return rejudge(
        replace(
            receipt,
            pins={**receipt.pins, **later.pins},
            cells=tuple(cells.values()),
            histories={name: history for name, history in histories.items() if name in told},
            probes=chosen_probes((receipt, later)),
        )
    )


def _place(cell: Cell) -> tuple[str, str]:
    return cell.identity, cell.version


def _plane(cell: Cell) -> tuple[str, str, str, str]:
    return cell.plane, cell.version, cell.path, cell.backend


@dataclass(slots=True)
class _Bench:
    """A receipt under judgement: what was read and judged of it before is kept."""

    receipt: Receipt
    _histories: dict[str, History] = field(default_factory=dict)
    _judged: dict[tuple[str, Property], tuple[Judgement, ...]] = field(default_factory=dict)
    _citations: dict[tuple[str, str], tuple[Citation, ...]] = field(default_factory=dict)

    def cell(self, cell: Cell) -> Cell:
        """A cell, derived again; one of a drill as it is, whose judges need to know what its protocols ran into."""
        if is_of_drill(self.receipt, cell):
            return cell
        found = [self._part(cell, part) for part in cell.parts]
        return replace(
            cell,
            measured=merge_measured(part.measured for part, _, _ in found),
            label=merge(part.label for part, _, _ in found),
            strict=merge(strict for _, strict, _ in found),
            citations=tuple(dict.fromkeys(citation for _, _, cited in found for citation in cited)),
            parts=tuple(part for part, _, _ in found),
        )

    def sufficient(self, cell: Cell, part: Part, known: Collection[str]) -> list[str]:
        """The histories that suffice to derive a part again, those that are kept anyway before others."""
        if is_of_drill(self.receipt, cell):
            return list(part.histories)
        if part.measured is Measured.UNDETERMINED or not part.histories:
            return []
        whole = self._verdict(cell, part, part.histories)
        untold = {finding.summary for finding in whole.findings}
        chosen: list[str] = []
        for name in sorted(part.histories, key=lambda name: name not in known):
            alone = self._verdict(cell, part, [name])
            told = untold & {finding.summary for finding in alone.findings}
            if told or (not chosen and alone.measured is whole.measured):
                chosen.append(name)
                untold -= told
        again = self._verdict(cell, part, chosen)
        if (again.measured, again.label, again.strict) != (whole.measured, whole.label, whole.strict):
            return list(part.histories)
        return sorted(chosen, key=part.histories.index)

    def _part(self, cell: Cell, part: Part) -> tuple[Part, Label, tuple[str, ...]]:
        """A part derived again, its label under the strict rule, and the statements that it rests on."""
        if part.histories:
            again = self._verdict(cell, part, part.histories)
            derived = replace(
                part, measured=again.measured, label=again.label, findings=again.findings, reason=again.reason
            )
            return derived, again.strict, again.citations
        if part.label in _MEASURED_NOTHING:
            return part, part.label, ()
        untold = replace(
            part, measured=Measured.UNDETERMINED, label=Label.INCONCLUSIVE, findings=(), reason="no history is kept"
        )
        return untold, Label.INCONCLUSIVE, ()

    def _verdict(self, cell: Cell, part: Part, names: Sequence[str]) -> Verdict:
        spec = _spec_of(cell)
        judgements = [
            judgement for name in names for judgement in self._judge(cell, part, name) if judgement.facet is cell.facet
        ]
        bears = bearing(
            self._statements(spec),
            cell.property,
            facet=cell.facet,
            form=cell.form,
            version=cell.version,
            probe=part.probe,
        )
        return verdict(judgements, bears, _form_of(spec, cell))

    def _judge(self, cell: Cell, part: Part, name: str) -> tuple[Judgement, ...]:
        history = self._history(cell, name)
        said = history.header
        claimed = (part.probe, cell.plane, cell.path, cell.backend, cell.form)
        if (said.probe, said.plane, said.path, said.backend, said.form) != claimed:
            raise ReceiptUnreadable(
                f"The history {name} is one of {said.probe} on {said.plane}/{said.path}/{said.backend}, and the cell"
                f" {cell.identity} claims it for {part.probe}.",
                advice=_ADVICE,
            )
        key = name, cell.property
        if key not in self._judged:
            self._judged[key] = judge(history, cell.property)
        return self._judged[key]

    def _history(self, cell: Cell, name: str) -> History:
        if name not in self.receipt.histories:
            raise ReceiptUnreadable(
                f"The cell {cell.identity} rests on the history {name}, which the receipt lacks.", advice=_ADVICE
            )
        if name not in self._histories:
            self._histories[name] = decode_history(self.receipt.histories[name].encode(), name=name)
        return self._histories[name]

    def _statements(self, spec: PlaneSpec) -> tuple[Citation, ...]:
        key = spec.name, spec.path
        if key not in self._citations:
            self._citations[key] = load(spec)
        return self._citations[key]


def _spec_of(cell: Cell) -> PlaneSpec:
    for spec in specs(cell.plane):
        if spec.path == cell.path:
            return spec
    raise UnknownName(f"{cell.plane} has no path {cell.path!r}.", advice="Judge the receipt with its own release.")


def _form_of(spec: PlaneSpec, cell: Cell) -> Form | None:
    if not cell.form:
        return None
    for form in spec.forms:
        if form.name == cell.form and form.operation is cell.operation:
            return form
    raise UnknownName(f"{cell.plane} has no form {cell.form!r}.", advice="Judge the receipt with its own release.")
