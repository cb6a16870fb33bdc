"""The figure of a race, as SVG: fires for each racer against jitter, a row of panels for each course."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from resumption.harness.races import Race
from resumption.report.races import Dose, doses, rows

__all__ = ["draw"]

_WIDTH, _HEIGHT = 4.2, 3.0  # inches of a panel
_MARKERS = "osD^vPX*"  # with the line's colour, so that a figure can be read without colours


def draw(race: Race, path: Path) -> None:
    """Draw a race that has heats into an SVG file. Raises `OSError` if it can't be written.

    The same race gives the same file: no random identities and no date. Text stays text.
    """
    courses = rows(race)
    gates = race.grid.gates_ms
    with mpl.rc_context():
        mpl.rcParams["svg.hashsalt"] = "resumption"
        mpl.rcParams["svg.fonttype"] = "none"
        figure = Figure(figsize=(_WIDTH * len(gates), _HEIGHT * len(courses)), layout="constrained")
        axes = figure.subplots(len(courses), len(gates), squeeze=False, sharex=True, sharey=True)
        for (name, heats), line in zip(courses.items(), axes, strict=True):
            found = doses(heats)
            for gate, panel in zip(gates, line, strict=True):
                _draw_panel(panel, f"{name}, gate {gate:g} ms", [dose for dose in found if dose.gate_ms == gate])
            line[0].set_ylabel("fires for each racer")
        for panel in axes[-1]:
            panel.set_xlabel("most that a racer waits, ms (dotted: one fire)")
        figure.savefig(path, format="svg", metadata={"Date": None})


def _draw_panel(panel: Axes, title: str, found: Sequence[Dose]) -> None:
    by_racers = sorted(found, key=lambda dose: (dose.racers, dose.jitter_ms))
    for number, (racers, line) in enumerate(groupby(by_racers, key=lambda dose: dose.racers)):
        points = list(line)
        jitters = [dose.jitter_ms for dose in points]
        middles = [dose.saturation for dose in points]
        ranges = [[heat.saturation for heat in dose.heats] for dose in points]
        marker, colour = _MARKERS[number % len(_MARKERS)], f"C{number}"
        panel.plot(jitters, middles, marker=marker, color=colour, label=f"{racers} racers")
        panel.vlines(jitters, [*map(min, ranges)], [*map(max, ranges)], color=colour, linewidth=1)
        panel.axhline(1 / racers, linestyle=":", linewidth=0.8, color=colour)
    panel.set_title(title, fontsize=9)
    panel.set_ylim(0, None)
    if by_racers:
        panel.legend(fontsize=8, frameon=False)
