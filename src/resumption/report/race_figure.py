"""The figure of a race, as SVG: fires for each racer against jitter, one panel for each course and gate."""

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
    panels = [
        (f"{name}\ngate {gate:g} ms", list(of_gate))
        for name, heats in rows(race).items()
        for gate, of_gate in groupby(doses(heats), key=lambda dose: dose.gate_ms)
    ]
    with mpl.rc_context():
        mpl.rcParams["svg.hashsalt"] = "resumption"
        mpl.rcParams["svg.fonttype"] = "none"
        figure = Figure(figsize=(_WIDTH * len(panels), _HEIGHT), layout="constrained")
        axes: Sequence[Axes] = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for panel, (title, found) in zip(axes, panels, strict=True):
            _draw_panel(panel, title, found)
        axes[0].set_ylabel("fires for each racer")
        figure.savefig(path, format="svg", metadata={"Date": None})


def _draw_panel(panel: Axes, title: str, found: Sequence[Dose]) -> None:
    by_racers = sorted(found, key=lambda dose: (dose.racers, dose.jitter_ms))
    for number, (racers, line) in enumerate(groupby(by_racers, key=lambda dose: dose.racers)):
        points = list(line)
        jitters = [dose.jitter_ms for dose in points]
        middles = [dose.saturation for dose in points]
        lows = [dose.saturation - min(heat.saturation for heat in dose.heats) for dose in points]
        highs = [max(heat.saturation for heat in dose.heats) - dose.saturation for dose in points]
        marker = _MARKERS[number % len(_MARKERS)]
        panel.errorbar(jitters, middles, yerr=[lows, highs], marker=marker, capsize=2, label=f"{racers} racers")
        panel.axhline(1 / racers, linestyle=":", linewidth=0.8, color=f"C{number}")
    panel.set_title(title, fontsize=9)
    panel.set_xlabel("jitter up to, ms (dotted: one fire)")
    panel.set_ylim(0, None)
    panel.legend(fontsize=8, frameon=False)
