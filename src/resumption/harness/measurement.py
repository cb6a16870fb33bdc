"""Measures targets: finds or makes the environment of each, runs the suite there, and makes one receipt of all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from resumption.errors import EnvironmentBroken, EnvironmentUnavailable, ResumptionError, WorkerLost
from resumption.harness.installations import INSTALLED, Installation, isolated
from resumption.harness.locks import read_recipe
from resumption.harness.probes import Probe
from resumption.harness.receipts import Receipt, chosen_probes
from resumption.harness.runner import Progress, run_suite, unmeasured_suite
from resumption.harness.targets import Target, planes_of
from resumption.planes.interface import PlaneSpec

__all__ = ["installation_of", "join", "measure"]

_BUILDERS = 4  # downloading and unpacking take turns on one machine


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
    tolerant: bool = False,
) -> Receipt:
    """Run `probes` on every target and return one receipt of all.

    `python` is what isolated environments are made with, and `say` is told of their making; the rest is as for
    `run_suite`. All environments are made before anything is measured, so that what can't be had is told at once.
    Raises `UnknownName`, `TargetUnreadable`, `EnvironmentUnavailable` or `EnvironmentBroken`; with `tolerant`, an
    environment that can't be had or doesn't work leaves its targets' cells inconclusive, and the others are measured.
    """
    at_home: dict[Installation, list[Target]] = {}
    receipts: list[Receipt] = []
    for target, found in zip(targets, _installations(targets, python, say), strict=True):
        if isinstance(found, Installation):
            at_home.setdefault(found, []).append(target)
        elif tolerant:
            receipts.append(_unmeasured([target], probes, target.version, found, say))
        else:
            raise found
    for installation, together in at_home.items():
        try:
            receipt = run_suite(
                planes_of(together),
                probes,
                jobs=jobs,
                installation=installation,
                listen=listen,
                keep=keep / installation.name if keep and len(at_home) > 1 else keep,
                thorough=thorough,
                postgres=postgres,
            )
        except (EnvironmentBroken, WorkerLost) as error:
            if not tolerant:
                raise
            receipt = _unmeasured(together, probes, installation.version, error, say)
        receipts.append(receipt)
    return join(receipts)


def _installations(
    targets: Sequence[Target], python: str, say: Callable[[str], None]
) -> list[Installation | EnvironmentUnavailable]:
    """The environment of each target, made several at once where they aren't there yet, or why it can't be had."""

    def find(target: Target) -> Installation | EnvironmentUnavailable:
        try:
            return installation_of(target, python=python, say=say)
        except EnvironmentUnavailable as error:
            return error

    with ThreadPoolExecutor(_BUILDERS, thread_name_prefix="resumption-environment") as pool:
        return list(pool.map(find, targets))


def _unmeasured(
    targets: Sequence[Target], probes: Sequence[Probe], release: str, error: ResumptionError, say: Callable[[str], None]
) -> Receipt:
    reason = " ".join(str(error).split())
    say(f"{', '.join(map(str, targets))} could not be measured: {reason}")
    return unmeasured_suite(planes_of(targets), probes, release, reason)


def installation_of(
    target: Target, *, python: str = sys.executable, say: Callable[[str], None] = lambda _: None
) -> Installation:
    """Where a target's framework is installed; an isolated environment is made if it isn't there yet.

    A target without a version means what is installed beside the harness; where nothing is, the family's newest
    committed release stands in for it, and `say` is told.

    Raises `UnknownName`, `TargetUnreadable`, or `EnvironmentUnavailable`, on Windows for any target.
    """
    if sys.platform == "win32":
        raise EnvironmentUnavailable("Measuring needs POSIX processes.", advice="On Windows, run it in WSL.")
    spec = target.specs()[0]
    if target.version:
        return isolated(spec, target.version, python=python, say=say)
    newest = "" if _is_installed(spec) else read_recipe(spec).newest
    if not newest:
        return INSTALLED
    say(f"{spec.package} isn't installed beside this program: {target}@{newest} is measured, in its own environment.")
    return isolated(spec, newest, python=python, say=say)


def _is_installed(spec: PlaneSpec) -> bool:
    """Whether a plane's framework is there without an isolated environment."""
    try:
        return not spec.package or bool(metadata.version(spec.package))
    except metadata.PackageNotFoundError:
        return False


def join(receipts: Sequence[Receipt]) -> Receipt:
    """One receipt that says what several say, which were made on this machine one after the other."""
    return replace(
        receipts[0],
        pins={plane: pins for receipt in receipts for plane, pins in receipt.pins.items()},
        cells=tuple(cell for receipt in receipts for cell in receipt.cells),
        histories={name: text for receipt in receipts for name, text in receipt.histories.items()},
        drills={name: text for receipt in receipts for name, text in receipt.drills.items()},
        probes=chosen_probes(receipts),
    )
