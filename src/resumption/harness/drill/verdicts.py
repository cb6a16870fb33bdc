"""From what a drill showed to the cells of a receipt, which every report reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Label, Measured, merge, merge_measured
from resumption.harness.drill.engine import Drilled, Outcome
from resumption.harness.drill.findings import PROPERTIES, Breach, Found
from resumption.harness.drill.protocols import Action
from resumption.harness.receipts import Cell, Part, Receipt, new_receipt
from resumption.history.ndjson import encode_history
from resumption.planes.interface import Form

__all__ = ["cells_of", "receipt_of"]

_MOST_FINDINGS = 3  # of one action in one cell: a sweep repeats the same breach at many points

_P = Property
_RUN = (_P.EFFECT_EXACTLY_ONCE, _P.NO_LOST_WORK, _P.PREFIX_CONTINUATION, _P.LIVENESS)
_DECIDES: dict[Action, tuple[Property, ...]] = {
    Action.CRASH: (
        _P.EFFECT_EXACTLY_ONCE,
        _P.NO_LOST_WORK,
        _P.PREFIX_CONTINUATION,
        _P.CHECKPOINT_VALIDITY,
        _P.LIVENESS,
    ),
    Action.HANDOVER: _RUN,
    Action.REDELIVER: (_P.CONSUME_ONCE_EFFECTS, _P.CONSUME_ONCE_COUNT, _P.PREFIX_CONTINUATION, _P.LIVENESS),
    Action.RACE: (_P.CONSUME_ONCE_EFFECTS, _P.PREFIX_CONTINUATION, _P.LIVENESS),
    Action.FORK: (_P.FORK_DETERMINISM, _P.EFFECT_EXACTLY_ONCE, _P.LIVENESS),
}
"""What each action can tell."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What the protocols of one action and form say of one property."""

    property: Property
    form: Form | None
    part: Part
    documented: bool = False


def receipt_of(drilled: Sequence[Drilled]) -> Receipt:
    """One receipt of a program's drills, as it is and guarded."""
    receipt = new_receipt(
        [cell for one in drilled for cell in cells_of(one)],
        {name: text for one in drilled for name, text in _histories(one)},
        {f"{one.request.target}-{_path(one)}": one.pins for one in drilled},
    )
    return replace(receipt, drills={one.request.target: one.request.encode() for one in drilled})


def cells_of(drilled: Drilled) -> tuple[Cell, ...]:
    """The cells of one drill: a property, for each form of resuming."""
    pieces = sorted(_pieces(drilled), key=_key)
    return tuple(_cell(drilled, list(group)) for _, group in groupby(pieces, key=_key))


def _path(drilled: Drilled) -> str:
    return "guarded" if drilled.way.guarded else "stock"


def _history_name(drilled: Drilled, name: str) -> str:
    return f"{drilled.request.target}/{_path(drilled)}/{name}"


def _histories(drilled: Drilled) -> Iterator[tuple[str, str]]:
    yield _history_name(drilled, drilled.twin.name), encode_history(drilled.twin.history).decode()
    for outcome in drilled.outcomes:
        if outcome.history is not None:
            yield _history_name(drilled, outcome.protocol.name), encode_history(outcome.history).decode()


def _key(piece: _Piece) -> tuple[int, str, str]:
    form = piece.form
    return list(Property).index(piece.property), form.operation.value if form else "", form.name if form else ""


def _pieces(drilled: Drilled) -> Iterator[_Piece]:
    if drilled.unsteady:
        reason = f"two runs without faults differ: {'; '.join(drilled.unsteady)}"
        yield _unmeasured(Property.EFFECT_EXACTLY_ONCE, "drill/twin", reason)
        return
    yield from _of_the_twin(drilled)
    if drilled.left_out:
        reason = f"the time didn't suffice for {drilled.left_out} protocols"
        yield _unmeasured(Property.EFFECT_EXACTLY_ONCE, "drill/time", reason)
    groups: dict[tuple[Action, Form], list[Outcome]] = {}
    for outcome in drilled.outcomes:
        groups.setdefault((outcome.protocol.action, outcome.protocol.form), []).append(outcome)
    for (action, form), outcomes in groups.items():
        for property_ in _DECIDES[action]:
            yield _piece(drilled, action, form, outcomes, property_)


def _of_the_twin(drilled: Drilled) -> Iterator[_Piece]:
    for property_ in (Property.EFFECT_EXACTLY_ONCE, Property.CHECKPOINT_VALIDITY):
        found = [one for one in drilled.in_twin if PROPERTIES[one.breach] is property_]
        measured = Measured.BREACHES if found else Measured.CONFORMS
        part = Part(
            probe="drill/twin",
            trials=1,
            measured=measured,
            label=Label.VIOLATES if found else Label.HOLDS,
            findings=tuple(one.finding for one in found),
            histories=(_history_name(drilled, drilled.twin.name),),
        )
        yield _Piece(property_, None, part)


def _unmeasured(property_: Property, probe: str, reason: str) -> _Piece:
    part = Part(probe=probe, trials=0, measured=Measured.UNDETERMINED, label=Label.INCONCLUSIVE, reason=reason)
    return _Piece(property_, None, part)


def _piece(drilled: Drilled, action: Action, form: Form, outcomes: Sequence[Outcome], property_: Property) -> _Piece:
    found = [one for outcome in outcomes for one in outcome.found if _property(one, action) is property_]
    problems = [f"{outcome.protocol.name}: {outcome.problem}" for outcome in outcomes if outcome.problem]
    label = merge([*_labels(found), *([Label.INCONCLUSIVE] if problems else []), Label.HOLDS])
    measured = Measured.BREACHES if found else Measured.UNDETERMINED if problems else Measured.CONFORMS
    doubts = sum(outcome.doubt for outcome in outcomes)
    part = Part(
        probe=f"drill/{action}",
        trials=len(outcomes),
        measured=measured,
        label=label,
        findings=_distinct(one.finding for one in found)[:_MOST_FINDINGS],
        histories=tuple(_history_name(drilled, outcome.protocol.name) for outcome in outcomes if outcome.history),
        reason=problems[0] if problems else "",
        note=f"{doubts} runs stopped to ask whether an effect fired" if doubts else "",
    )
    return _Piece(property_, form, part)


def _property(found: Found, action: Action) -> Property:
    """The property that a finding is about: an effect that a second answer fires again is the answer's."""
    if found.breach is Breach.FIRES_AGAIN and action in (Action.REDELIVER, Action.RACE):
        return Property.CONSUME_ONCE_EFFECTS
    property_ = PROPERTIES[found.breach]
    return property_ if property_ in _DECIDES[action] else Property.PREFIX_CONTINUATION


def _labels(found: Iterable[Found]) -> list[Label]:
    return [Label.DIVERGENT if one.documented else Label.VIOLATES for one in found]


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple({finding.summary: finding for finding in reversed(list(findings))}.values())[::-1]


def _cell(drilled: Drilled, pieces: Sequence[_Piece]) -> Cell:
    form = pieces[0].form
    spec = drilled.way.plane(drilled.request.settings())
    label = merge(piece.part.label for piece in pieces)
    return Cell(
        plane=drilled.request.target,
        version=drilled.version,
        path=_path(drilled),
        backend=spec.backends[0].name,
        property=pieces[0].property,
        operation=form.operation if form else None,
        form=form.name if form else "",
        primary=form is None or form == spec.forms_of(form.operation)[0],
        measured=merge_measured(piece.part.measured for piece in pieces),
        label=label,
        strict=Label.VIOLATES if label is Label.DIVERGENT else label,
        parts=tuple(piece.part for piece in pieces),
    )
