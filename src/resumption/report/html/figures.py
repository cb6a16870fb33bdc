"""The figures of a race on the page: a heat map as a table, and fires against jitter as a drawing.

Both are made for each course and gate. Colour says nothing that a number beside it doesn't say too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from resumption.harness.races import Race
from resumption.report.legible import legible
from resumption.report.races import Dose, doses, rows

__all__ = ["Panel", "panels"]

_WIDTH, _HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 96, 14, 42  # margins, in the drawing's own units
_SHADES = 5
_SERIES = 6  # styles of lines; more racers than that share some, and have their label


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """The heats of one point of the grid."""

    text: str
    detail: str
    shade: int
    """From 0, where nothing fired twice, to `_SHADES`, where every racer fired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One course at one gate."""

    title: str
    jitters: tuple[str, ...]
    lines: tuple[tuple[int, tuple[Square, ...]], ...]
    """For each number of racers, a square for each jitter."""
    drawing: Markup


def panels(race: Race) -> Iterator[Panel]:
    """The panels of a race, course by course."""
    for course, heats in rows(race).items():
        for gate, of_gate in groupby(doses(heats), key=lambda dose: dose.gate_ms):
            by_racers = [(racers, list(line)) for racers, line in groupby(of_gate, key=lambda dose: dose.racers)]
            title = legible(f"{course}, {gate:g} ms of work in the gate")
            yield Panel(
                title=title,
                jitters=tuple(f"≤{dose.jitter_ms:g} ms" for dose in by_racers[0][1]),
                lines=tuple((racers, tuple(map(_square, line))) for racers, line in by_racers),
                drawing=_drawing(title, by_racers),
            )


def _square(dose: Dose) -> Square:
    least = 1 / dose.racers
    excess = max(0.0, (dose.saturation - least) / (1 - least))
    counts = " ".join(f"{fires}×{heats}" for fires, heats in dose.distribution.items())
    return Square(text=f"{dose.saturation:.2f}", detail=counts, shade=min(_SHADES, round(excess * _SHADES + 0.49)))


def _drawing(title: str, lines: Sequence[tuple[int, Sequence[Dose]]]) -> Markup:
    """Fires for each racer against jitter. Jitters stand at equal distances, in their order."""
    count = max(len(line) for _, line in lines)
    parts = [*_axes(lines[0][1], count)]
    for number, (racers, line) in enumerate(lines):
        style = f"series-{number % _SERIES}"
        points = [(_x(place, count), _y(dose.saturation)) for place, dose in enumerate(line)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line {style}" points="{drawn}"/>')
        parts += [f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points]
        once = _y(1 / racers)
        parts.append(
            f'<line class="once {style}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{once:.1f}" y2="{once:.1f}"/>'
        )
        parts.append(
            f'<text x="{points[-1][0] + 9:.1f}" y="{_label_y(points[-1][1], number):.1f}">{racers} racers</text>'
        )
    name = Markup("<title>{}: fires for each racer against jitter</title>").format(title)
    body = Markup("".join(parts))  # numbers and words of this module alone
    return Markup('<svg class="dose" role="img" viewBox="0 0 {} {}">{}{}</svg>').format(_WIDTH, _HEIGHT, name, body)


def _axes(line: Sequence[Dose], count: int) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}"/>'
        yield f'<text class="end" x="{_LEFT - 6}" y="{_y(share) + 4:.1f}">{share:g}</text>'
    for place, dose in enumerate(line):
        yield f'<text class="middle" x="{_x(place, count):.1f}" y="{_HEIGHT - _BOTTOM + 16}">{dose.jitter_ms:g}</text>'
    yield f'<text x="{_LEFT}" y="{_HEIGHT - 8}">most that a racer waits, ms (dotted: one fire)</text>'


def _x(place: int, count: int) -> float:
    return _LEFT + 12 + place * (_WIDTH - _LEFT - _RIGHT - 24) / max(count - 1, 1)


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


def _label_y(y: float, number: int) -> float:
    return y + 4 + (number % 2) * 11
