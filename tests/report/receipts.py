"""Receipts that the tests of reports are about: made by hand, or grown from a real history."""

from __future__ import annotations

from dataclasses import replace

from resumption.contract.judges.stories import finding
from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Label, Measured
from resumption.harness.heats import Heat, Racer, Terms
from resumption.harness.policy import ExitCode, FailOn, Policy
from resumption.harness.races import Grid, Race
from resumption.harness.receipts import Cell, Part, Receipt, new_receipt
from resumption.history.events import (
    Consume,
    Crash,
    Deliver,
    EffectBegin,
    EffectEnd,
    Event,
    Exit,
    Intent,
    Oracle,
    Park,
    Pending,
    Persist,
    Phase,
    Return,
    Start,
    TaskEnd,
    TaskStart,
)
from resumption.history.history import Header, History
from resumption.history.ndjson import encode_history
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import Operation
from resumption.report.view import View

__all__ = ["HOSTILE", "cell", "crashed", "race", "receipt", "told", "view"]

HOSTILE = (
    "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
    "\x00\x07\x1b[31m\u202eevil\u2028 🦜 שלום ]]> & ``` ``` %0A::error::x | a\nb \ud800"
)
"""Markup, control characters, marks of direction, emoji, Hebrew, and what ends a block in one format or another."""

_PROGRAM = Workload((Task("approve", (Interrupt("approve"), Effect("charge"))),))


def crashed(value: str = "yes", *, rounds: int = 1) -> History:
    """A run whose process dies behind the gate's effect, and which a second answer makes fire again."""
    own = {"process": 1, "operation": 1, "branch": "b0"}
    events: list[Event] = [Start(**own, value={})]
    for number in range(rounds):
        events += [
            Persist(**own, phase=Phase.BEGIN, item=f"i{number}", name=f"put(step={number})"),
            Persist(**own, phase=Phase.END, item=f"i{number}", name=f"put(step={number})", covers=("approve",)),
        ]
    events += [
        Park(**own, pending=(Pending(identity="1", name="approve"),)),
        *_answered(1, 2, "d1", value, Intent.ANSWER),
        Crash(process=1, operation=2, branch="b0", point="effect:charge:after"),
        Exit(process=0, who=1, code=-9, signal=9),
        *_answered(2, 3, "d2", "no", Intent.STRAY),
        TaskEnd(process=2, operation=3, branch="b0", task="approve", write=["approve=no"]),
        Return(process=2, operation=3, branch="b0", trail=["approve=no"]),
        Exit(process=0, who=2, code=0, signal=0),
        Oracle(process=0, fired=("p1-1", "p2-1")),
    ]
    header = Header(
        probe="consume/contradiction-after-crash",
        plane="frame",
        path="graph",
        backend="sqlite",
        form="bare",
        workload=_PROGRAM,
    )
    return History(header, tuple(replace(event, number=place) for place, event in enumerate(events, 1)))


def _answered(process: int, operation: int, delivery: str, value: str, intent: Intent) -> list[Event]:
    own = {"process": process, "operation": operation, "branch": "b0"}
    return [
        Deliver(**own, intent=intent, form="bare", delivery=delivery, value=value, target="approve"),
        TaskStart(**own, task="approve", trail=[]),
        Consume(**own, task="approve", interrupt="approve", value=value),
        EffectBegin(**own, call=f"p{process}-1", effect="charge", task="approve", value=value),
        EffectEnd(**own, call=f"p{process}-1", count=1),
    ]


def told(history: History) -> Finding:
    """The story of the two decisions, and of the two fires."""
    events = [event for event in history.events if isinstance(event, Deliver | EffectBegin)]
    return finding(history, "effect `charge` fired twice", *events)


def cell(
    property_: Property = Property.CONSUME_ONCE_EFFECTS,
    label: Label = Label.HOLDS,
    *,
    findings: tuple[Finding, ...] = (),
    histories: tuple[str, ...] = (),
    form: str = "",
    primary: bool = True,
    facet: Facet = Facet.CELL,
    reason: str = "",
    note: str = "",
    accepted: str = "",
    plane: str = "frame",
    version: str = "1.2.3",
    backend: str = "sqlite",
    probe: str = "consume/contradiction-after-crash",
) -> Cell:
    """One cell with one part."""
    measured = Measured.BREACHES if findings else Measured.CONFORMS
    part = Part(
        probe=probe,
        trials=1,
        measured=measured,
        label=label,
        findings=findings,
        histories=histories,
        reason=reason,
        note=note,
    )
    return Cell(
        plane=plane,
        version=version,
        path="graph",
        backend=backend,
        property=property_,
        facet=facet,
        operation=Operation.DELIVER if form else None,
        form=form,
        primary=primary,
        measured=measured,
        label=label,
        strict=label,
        parts=(part,),
        accepted=accepted,
    )


def receipt(*cells: Cell, **histories: History) -> Receipt:
    """A receipt of these cells, with the histories by name."""
    texts = {name: encode_history(history).decode(errors="surrogatepass") for name, history in histories.items()}
    return new_receipt(cells, texts, {})


def race() -> Race:
    """A race in which two racers always both fire, and four never more than one."""
    grid = Grid(racers=(2, 4), jitters_ms=(0.0, 5.0), repetitions=1)
    heats = tuple(
        Heat(
            plane="frame",
            version="1.2.3",
            path="graph",
            backend="sqlite",
            point=point,
            racers=tuple(
                Racer(
                    arrived_ms=0.0,
                    consumed=True,
                    fired=int(point.racers == 2 or number == 0),
                    fired_ms=1.0,
                    outcome="completed",
                )
                for number in range(point.racers)
            ),
        )
        for point in grid.points()
    )
    return Race(
        created="today", platform="here", python="3", pins={}, terms=Terms(), grid=grid, heats=heats, unraced=()
    )


def view(*cells: Cell, fail_on: FailOn = FailOn.VIOLATION, **histories: History) -> View:
    """A view of such a receipt."""
    return View(receipt=receipt(*cells, **histories), policy=Policy(fail_on), code=ExitCode.FINDINGS)
