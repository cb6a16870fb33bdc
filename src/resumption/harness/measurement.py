"""Measures targets: finds or makes the environment of each, runs the suite there, and makes one receipt of all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from resumption.errors import EnvironmentUnavailable
from resumption.harness.installations import INSTALLED, Installation, isolated
from resumption.harness.probes import Probe
from resumption.harness.receipts import Receipt
from resumption.harness.runner import Progress, run_suite
from resumption.harness.targets import Target, planes_of

__all__ = ["installation_of", "join", "measure"]


def measure(
    targets: Sequence[Target],
    probes: Sequence[Probe],
    *,
    jobs: int,
    python: str = sys.executable,
    say: Callable[[str], None] = lambda _: None,
    listen: Callable[[Progress], None] = lambda _: None,
    keep: Path | None = None,
    thorough: bool = False,
    postgres: str = "",
) -> Receipt:
    """Run `probes` on every target and return one receipt of all.

    `python` is what isolated environments are made with, and `say` is told of their making; the rest is as for
    `run_suite`. All environments are made before anything is measured, so that what can't be had is told at once.
    Raises `UnknownName`, `TargetUnreadable`, `EnvironmentUnavailable` or `EnvironmentBroken`.
    """
    at_home: dict[Installation, list[Target]] = {}
    for target in targets:
        at_home.setdefault(installation_of(target, python=python, say=say), []).append(target)
    return join(
        [
            run_suite(
                planes_of(together),
                probes,
                jobs=jobs,
                installation=installation,
                listen=listen,
                keep=keep / installation.name if keep and len(at_home) > 1 else keep,
                thorough=thorough,
                postgres=postgres,
            )
            for installation, together in at_home.items()
        ]
    )


def installation_of(
    target: Target, *, python: str = sys.executable, say: Callable[[str], None] = lambda _: None
) -> Installation:
    """Where a target's framework is installed; an isolated environment is made if it isn't there yet.

    Raises `UnknownName`, `TargetUnreadable`, or `EnvironmentUnavailable`, on Windows for any target.
    """
    if sys.platform == "win32":
        raise EnvironmentUnavailable("Measuring needs POSIX processes.", advice="On Windows, run it in WSL.")
    if not target.version:
        return INSTALLED
    return isolated(target.specs()[0], target.version, python=python, say=say)


def join(receipts: Sequence[Receipt]) -> Receipt:
    """One receipt that says what several say, which were made on this machine one after the other."""
    return replace(
        receipts[0],
        pins={plane: pins for receipt in receipts for plane, pins in receipt.pins.items()},
        cells=tuple(cell for receipt in receipts for cell in receipt.cells),
        histories={name: text for receipt in receipts for name, text in receipt.histories.items()},
        drills={name: text for receipt in receipts for name, text in receipt.drills.items()},
    )
