"""What a race came to: how often the gated effect fired, by racers, jitter and gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import mean, median

from rich.console import Console
from rich.text import Text

from resumption.harness.heats import Contest, Heat, Means, Terms
from resumption.harness.races import Race
from resumption.report.marks import MARKS
from resumption.report.text import hang, heading, mark

__all__ = ["Dose", "doses", "print_race", "rows"]

_COLUMN = 16
_ENDINGS = 6  # kinds of ending told of each course


@dataclass(frozen=True, slots=True, kw_only=True)
class Dose:
    """The heats of one point of the grid on one course."""

    racers: int
    jitter_ms: float
    gate_ms: float
    heats: tuple[Heat, ...]

    @property
    def saturation(self) -> float:
        """Fires for each racer, on the average of the heats."""
        return mean(heat.saturation for heat in self.heats)

    @property
    def distribution(self) -> dict[int, int]:
        """In how many heats the effect fired how often."""
        return dict(sorted(Counter(heat.fires for heat in self.heats).items()))


def rows(race: Race) -> dict[str, list[Heat]]:
    """The heats of each course: plane, version, path and backend."""

    def course(heat: Heat) -> str:
        return " ".join(filter(None, (heat.plane, heat.version, heat.path, heat.backend)))

    ordered = sorted(race.heats, key=course)
    return {name: list(heats) for name, heats in groupby(ordered, key=course)}


def doses(heats: Iterable[Heat]) -> list[Dose]:
    """The heats of one course by point, in the order of gate, racers and jitter."""

    def dose(heat: Heat) -> tuple[float, int, float]:
        return heat.point.gate_ms, heat.point.racers, heat.point.jitter_ms

    return [
        Dose(racers=racers, jitter_ms=jitter, gate_ms=gate, heats=tuple(together))
        for (gate, racers, jitter), together in groupby(sorted(heats, key=dose), key=dose)
    ]


def print_race(race: Race, console: Console) -> None:
    """Print a table for each course, how the calls ended, and where nothing could be run."""
    hang(console, Text("race  "), _terms(race.terms), indent=6)
    hang(
        console,
        Text("cell  "),
        "fires for each racer; in brackets, fires × heats. Columns are the most that a racer waits.",
        indent=6,
    )
    for name, heats in rows(race).items():
        heading(console, name)
        _print_table(doses(heats), console)
        hang(console, Text(" "), _closing(heats, race.terms), indent=1)
    if race.unraced:
        heading(console, "Not raced, and why")
    for unraced in race.unraced:
        place = f"{unraced.plane} {unraced.path} {unraced.backend}"
        first = Text(" ") + mark(console, unraced.label) + Text(f" {MARKS[unraced.label].word}: ")
        hang(console, first, f"{place}. {unraced.reason}", indent=first.cell_len)


def _print_table(found: Sequence[Dose], console: Console) -> None:
    for gate, of_gate in groupby(found, key=lambda dose: dose.gate_ms):
        lines = [list(of_racers) for _, of_racers in groupby(of_gate, key=lambda dose: dose.racers)]
        names = "".join(f"≤{dose.jitter_ms:g} ms".ljust(_COLUMN) for dose in lines[0])
        console.print(Text(f" gate {gate:g} ms".ljust(_COLUMN) + names.rstrip(), style="bold"), soft_wrap=True)
        for line in lines:
            cells = "".join(_cell(dose).ljust(_COLUMN) for dose in line)
            console.print(Text(f" {line[0].racers} racers".ljust(_COLUMN) + cells.rstrip()), soft_wrap=True)


def _cell(dose: Dose) -> str:
    counts = " ".join(f"{fires}×{heats}" for fires, heats in dose.distribution.items())
    return f"{dose.saturation:.2f} ({counts})"


def _closing(heats: Sequence[Heat], terms: Terms) -> str:
    allowed = {heat.point.racers if terms.distinct else 1 for heat in heats}
    over = sum(heat.fires > (heat.point.racers if terms.distinct else 1) for heat in heats)
    limit = "once for each run" if terms.distinct else f"{allowed.pop()} time"
    endings = Counter(racer.outcome for heat in heats for racer in heat.racers).most_common(_ENDINGS)
    spreads = [
        max(times) for heat in heats if (times := [r.arrived_ms for r in heat.racers if r.arrived_ms is not None])
    ]
    told = ", ".join(f"{word} {count}" for word, count in endings)
    spread = f"; last racer {median(spreads):.1f} ms behind the first, in the median" if spreads else ""
    return f"{over} of {len(heats)} heats fired more than {limit}. Calls: {told}{spread}."


def _terms(terms: Terms) -> str:
    what = {
        Contest.RESUME: "answers to one pending interrupt",
        Contest.RECOVERY: "recoveries of one crashed run",
    }[terms.contest]
    if terms.distinct:
        what = "answers to runs of their own, as a control"
    who = {
        Means.PROCESSES: "processes",
        Means.THREADS: "threads of one process",
        Means.HOSTS: f"hosts, {terms.latency_ms:g} ms from the database",
    }[terms.means]
    extra = [
        text
        for said, text in (
            (terms.equal, "equal decisions"),
            (terms.late, "the last one starts when the others are let go"),
            (terms.one_cpu, "on one processor"),
            (terms.partition, "the first one cut off in its gate until the others have ended"),
        )
        if said
    ]
    return ", ".join([what, f"by {who}", *extra])
