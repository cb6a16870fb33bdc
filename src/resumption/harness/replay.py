"""Replays: what failed in a receipt is run again, as things are now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from resumption.contract.verdicts import Finding, Measured
from resumption.errors import ReplayRefused
from resumption.harness.drill.engine import Listener, drill
from resumption.harness.drill.protocols import Protocol
from resumption.harness.drill.request import Request
from resumption.harness.drill.verdicts import receipt_of
from resumption.harness.measurement import join, measure
from resumption.harness.policy import ExitCode
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, Part, Receipt
from resumption.harness.targets import Target

__all__ = ["Change", "Replayed", "compare", "exit_code_of", "failures", "replay"]


class Change(StrEnum):
    """What became of a failure."""

    FIXED = "fixed"
    """It was run again, and nothing failed."""
    FAILED = "failed"
    """It failed in the same way."""
    CHANGED = "changed"
    """It failed in another way, or it could not be told any more whether it does."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What one probe, or one action of a drill, found in one cell."""

    cell: Cell
    part: Part

    @property
    def name(self) -> tuple[str, str]:
        """What it is known by in another receipt."""
        return self.cell.identity, self.part.probe


@dataclass(frozen=True, slots=True)
class Replayed:
    """A failure, and what was seen when it was run again; None if nothing was."""

    failure: Failure
    now: Part | None

    @property
    def change(self) -> Change:
        """What became of it."""
        if self.now is None or self.now.measured is Measured.UNDETERMINED:
            return Change.CHANGED
        if self.now.measured is not Measured.BREACHES:
            return Change.FIXED
        before, now = _summaries(self.failure.part.findings), _summaries(self.now.findings)
        same = self.now.label is self.failure.part.label and bool(before & now)
        return Change.FAILED if same else Change.CHANGED


def failures(receipt: Receipt) -> tuple[Failure, ...]:
    """Every breach in a receipt that nobody accepted."""
    return tuple(
        Failure(cell, part)
        for cell in receipt.cells
        for part in cell.parts
        if part.measured is Measured.BREACHES and not cell.accepted
    )


def replay(
    receipt: Receipt, *, jobs: int, real_effects: bool = False, listen: Listener = lambda *_: None
) -> tuple[tuple[Replayed, ...], Receipt]:
    """Run again what failed in a receipt, with what is installed now; and the receipt of that.

    A drill that called its effects for real does so again only with `real_effects`.

    Raises `ValueError` if nothing failed in it, `ReplayRefused`, and what `measure` and `drill` raise.
    """
    failed = failures(receipt)
    if not failed:
        raise ValueError("nothing failed in this receipt")
    drilled = [failure for failure in failed if failure.cell.plane in receipt.drills]
    checked = [failure for failure in failed if failure.cell.plane not in receipt.drills]
    requests = {plane: Request.decode(receipt.drills[plane]) for plane in dict.fromkeys(f.cell.plane for f in drilled)}
    for request in requests.values():
        _admit(request, real_effects=real_effects)
    receipts = list(_drill_again(requests, drilled, jobs, listen))
    if checked:
        receipts.append(_check_again(checked, jobs))
    again = join(receipts)
    return compare(failed, again), again


def compare(failed: Iterable[Failure], again: Receipt) -> tuple[Replayed, ...]:
    """What became of each failure in another receipt."""
    parts = {(cell.identity, part.probe): part for cell in again.cells for part in cell.parts}
    return tuple(Replayed(failure, parts.get(failure.name)) for failure in failed)


def exit_code_of(replayed: Sequence[Replayed]) -> ExitCode:
    """How a replay ends: a failure that is still one beats what could not be told."""
    changes = {one.change for one in replayed}
    open_ = any(one.now is None or one.now.measured is Measured.UNDETERMINED for one in replayed)
    still = any(one.now is not None and one.now.measured is Measured.BREACHES for one in replayed)
    if still:
        return ExitCode.FINDINGS
    return ExitCode.INCONCLUSIVE if open_ or not changes else ExitCode.CLEAN


def _admit(request: Request, *, real_effects: bool) -> None:
    """Raise `ReplayRefused` if a drill can't be run again here, or would do to the outside what nobody asks for."""
    if request.real_effects and not real_effects:
        raise ReplayRefused(
            f"The drill of {request.target} called its effects for real.",
            advice="Say --real-effects if that is to be done again.",
        )
    if not Path(request.folder).is_dir():
        raise ReplayRefused(
            f"The drill of {request.target} was run in {request.folder}, which is no folder here.",
            advice="Replay where the program is, or drill it again.",
        )


def _drill_again(
    requests: Mapping[str, Request], failed: Sequence[Failure], jobs: int, listen: Listener
) -> Iterator[Receipt]:
    for plane, request in requests.items():
        mine = [failure for failure in failed if failure.cell.plane == plane]
        for guarded in sorted({failure.cell.path == "guarded" for failure in mine}):
            wanted = {
                (failure.part.probe, failure.cell.form)
                for failure in mine
                if (failure.cell.path == "guarded") is guarded
            }
            yield receipt_of(drill(request, jobs=jobs, ways=(guarded,), listen=listen, only=_among(wanted)))


def _among(wanted: set[tuple[str, str]]) -> Callable[[Protocol], bool]:
    return lambda protocol: (f"drill/{protocol.action}", protocol.form.name) in wanted


def _check_again(failed: Sequence[Failure], jobs: int) -> Receipt:
    cells = [failure.cell for failure in failed]
    targets = dict.fromkeys(Target(cell.plane, path=cell.path, backends=(cell.backend,)) for cell in cells)
    wanted = {failure.part.probe for failure in failed}
    return measure(list(targets), [probe for probe in PROBES if probe.address in wanted], jobs=jobs)


def _summaries(findings: Iterable[Finding]) -> set[str]:
    """What findings say, but for numbers, which may come out otherwise in each run."""
    return {re.sub(r"\d+", "N", finding.summary) for finding in findings}
