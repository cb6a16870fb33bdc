"""From what the probes observed to the cells of a receipt: judge, label, group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from resumption.contract.classification import Evidence, classify
from resumption.contract.judges import judge
from resumption.contract.judges.program import is_valid
from resumption.contract.judges.stories import shown
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Judgement, Label, Measured, merge, merge_measured
from resumption.harness.probes import Probe
from resumption.harness.receipts import Cell, Part
from resumption.harness.trials import Observation
from resumption.history.events import Deliver, Intent, Past
from resumption.history.history import History
from resumption.planes.interface import Backend, Form, PlaneSpec
from resumption.planes.statements import Bears, Citation, bearing

__all__ = ["Job", "Result", "Verdict", "cells_of", "history_name", "verdict"]

_MOST_FINDINGS = 3  # of one probe in one cell: a sweep repeats the same breach at many points


@dataclass(frozen=True, slots=True)
class Job:
    """One probe on one plane, backend and form."""

    spec: PlaneSpec
    backend: Backend
    probe: Probe
    form: Form | None
    release: str = ""
    """The release that was asked for; empty for the installed one."""
    thorough: bool = False
    """Whether sweeps leave nothing out."""

    @property
    def reason_against(self) -> str:
        """Why the probe doesn't apply here; empty if it does."""
        return next(
            (reason for need in self.probe.needs if (reason := self.spec.reason_against(self.backend, need))), ""
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What a job observed; `problem` says why it could not finish, if it couldn't."""

    job: Job
    version: str
    observations: Sequence[Observation] = ()
    problem: str = ""
    note: str = ""
    """What the job has to say besides."""
    not_run: str = ""
    """Why it couldn't be run here and now, and how to get what was missing; empty if it was run."""


def history_name(job: Job, number: int) -> str:
    """The identity of a job's history in a receipt."""
    form = job.form.name if job.form else "-"
    release = f"@{job.release}" if job.release else ""
    return f"{job.spec.name}{release}/{job.spec.path}/{job.backend.name}/{job.probe.address}/{form}#{number}"


def cells_of(results: Iterable[Result], citations: Sequence[Citation]) -> tuple[Cell, ...]:
    """Judge and label what the jobs of one plane observed."""
    pieces = [piece for result in results for piece in _pieces(result, citations)]
    pieces.sort(key=_key)
    return tuple(_cell(list(group)) for _, group in groupby(pieces, key=_key))


@dataclass(frozen=True, slots=True)
class _Piece:
    """One part of a cell, with what places it there."""

    result: Result
    property: Property
    facet: Facet
    part: Part
    strict: Label
    citations: tuple[str, ...]


def _key(piece: _Piece) -> tuple[str, str, str, int, str, str, str]:
    job = piece.result.job
    operation = job.form.operation.value if job.form else ""
    form = job.form.name if job.form else ""
    order = list(Property).index(piece.property)
    return job.spec.name, job.spec.path, job.backend.name, order, piece.facet.value, operation, form


def _pieces(result: Result, citations: Sequence[Citation]) -> list[_Piece]:
    job = result.job
    reason = job.reason_against
    if reason:
        return _unmeasured(result, Measured.UNEXERCISED, Label.NOT_APPLICABLE, reason)
    if result.not_run:
        return _unmeasured(result, Measured.UNDETERMINED, Label.NOT_RUN, result.not_run)
    if result.problem:
        return _unmeasured(result, Measured.UNDETERMINED, Label.INCONCLUSIVE, result.problem)
    return [piece for property_ in job.probe.decides for piece in _judged(result, property_, citations)]


def _unmeasured(result: Result, measured: Measured, label: Label, reason: str) -> list[_Piece]:
    probe = result.job.probe
    part = Part(probe=probe.address, trials=0, measured=measured, label=label, reason=reason)
    return [_Piece(result, property_, Facet.CELL, part, label, ()) for property_ in probe.decides]


def _judged(result: Result, property_: Property, citations: Sequence[Citation]) -> Iterable[_Piece]:
    by_facet: dict[Facet, list[Judgement]] = {}
    for observation in result.observations:
        for judgement in _judge(observation, property_):
            by_facet.setdefault(judgement.facet, []).append(judgement)
    job = result.job
    for facet, judgements in by_facet.items():
        bears = bearing(
            citations,
            property_,
            facet=facet,
            form=job.form.name if job.form else "",
            version=result.version,
            probe=job.probe.address,
        )
        found = verdict(judgements, bears, job.form)
        part = Part(
            probe=job.probe.address,
            trials=len(result.observations),
            measured=found.measured,
            label=found.label,
            findings=found.findings,
            histories=tuple(history_name(job, number) for number in range(1, len(result.observations) + 1)),
            reason=found.reason,
            note="; ".join(
                filter(None, (_frequency(result.observations), _beneath(result.observations, property_), result.note))
            ),
        )
        yield _Piece(result, property_, facet, part, found.strict, found.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What several histories of one probe say of one facet of a property."""

    measured: Measured
    label: Label
    strict: Label
    findings: tuple[Finding, ...]
    reason: str
    citations: tuple[str, ...]
    """Identities of the statements that the label rests on."""


def verdict(judgements: Sequence[Judgement], bears: Sequence[Citation], form: Form | None) -> Verdict:
    """Merge judgements of one facet of a property, and label them by the statements that bear on it."""
    labelled = [_label(judgement, bears, form) for judgement in judgements]
    measured = merge_measured(judgement.measured for judgement in judgements)
    findings = (finding for judgement in judgements for finding in judgement.findings)
    reasons = [j.reason for j in judgements if j.measured is measured and j.reason]
    return Verdict(
        measured=measured,
        label=merge(label for label, _ in labelled),
        strict=merge(strict for _, strict in labelled),
        findings=_distinct(findings)[:_MOST_FINDINGS],
        reason=reasons[0] if reasons else "",
        citations=tuple(citation.id for citation in bears) if measured is Measured.BREACHES else (),
    )


def _judge(observation: Observation, property_: Property) -> tuple[Judgement, ...]:
    if observation.problem:
        return (Judgement(property_, Measured.UNDETERMINED, reason=observation.problem),)
    return judge(observation.history, property_)


def _label(judgement: Judgement, bears: Sequence[Citation], form: Form | None) -> tuple[Label, Label]:
    evidence = Evidence(
        measured=judgement.measured,
        promised=any(citation.bears is Bears.PROMISE for citation in bears),
        weaker=any(citation.bears is Bears.WEAKER for citation in bears),
        silent_corruption=any(finding.silent_corruption for finding in judgement.findings),
        form_documented=form is None or bool(form.statement),
    )
    return classify(evidence), classify(evidence, strict=True)


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple({finding.summary: finding for finding in reversed(list(findings))}.values())[::-1]


def _frequency(observations: Sequence[Observation]) -> str:
    counts = [_race(observation.history) for observation in observations]
    told = [f"{fires} of {racers}" for racers, fires in counts if racers]
    return f"the gate's effect fired {', '.join(told)} times" if told else ""


def _beneath(observations: Sequence[Observation], property_: Property) -> str:
    """What past states could still be read where a write broke the schema: what an operator could go back to."""
    if property_ is not Property.CHECKPOINT_VALIDITY:
        return ""
    return "; ".join(dict.fromkeys(_past(past) for seen in observations for past in seen.history.of(Past)))


def _past(past: Past) -> str:
    valid = next((trail for trail in past.trails if is_valid(trail)), None)
    told = f"the history lists {len(past.trails)} states"
    if past.error:
        told += f", and then raises {past.error}"
    return told + (f"; the newest valid one is {shown(valid)}" if valid is not None else "; none of them is valid")


def _race(history: History) -> tuple[int, int]:
    """How many decisions raced, and how many of them fired the gate's effect."""
    racing = [deliver for deliver in history.of(Deliver) if deliver.intent is Intent.RACE]
    gates = {gate.name for gate in history.workload.gates()}
    fired = {fire.operation for fire in history.fires() if fire.task in gates}
    return len(racing), sum(deliver.operation in fired for deliver in racing)


def _cell(pieces: Sequence[_Piece]) -> Cell:
    first = pieces[0]
    job = first.result.job
    return Cell(
        plane=job.spec.name,
        version=first.result.version,
        path=job.spec.path,
        backend=job.backend.name,
        property=first.property,
        facet=first.facet,
        operation=job.form.operation if job.form else None,
        form=job.form.name if job.form else "",
        primary=job.form is None or job.form == job.spec.forms_of(job.form.operation)[0],
        measured=merge_measured(piece.part.measured for piece in pieces),
        label=merge(piece.part.label for piece in pieces),
        strict=merge(piece.strict for piece in pieces),
        citations=tuple(dict.fromkeys(citation for piece in pieces for citation in piece.citations)),
        parts=tuple(piece.part for piece in pieces),
    )
