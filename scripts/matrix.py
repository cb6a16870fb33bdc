"""Measure what the published matrix is made from: `python scripts/matrix.py [--missing | --probe ADDRESS] [TARGET …]`.

Without a target, as `make matrix` calls it, every framework is measured at the release that the paper measured, and at
its newest. Each receipt goes to `results/` as soon as it is there, compact; a release that can't be measured keeps the
one it has. With `--missing`, only the probes that a receipt says nothing of are run, and added to it; with `--probe`,
those whose address begins so, which take the place of what they measured before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pages import RESULTS
from pages import main as write_pages

from resumption.errors import ResumptionError
from resumption.harness.measurement import measure
from resumption.harness.probes import PROBES, Probe
from resumption.harness.receipts import read_receipt, write
from resumption.harness.rejudging import compact, extend, silent_on
from resumption.harness.runner import Progress, default_jobs
from resumption.harness.targets import Target, parse_target, released_targets


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write receipts and pages, and return 1 if a release could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0].partition(":")[0] + ".")
    parser.add_argument("targets", nargs="*", metavar="PLANE@VERSION")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--missing", action="store_true", help="only the probes that a receipt says nothing of")
    chosen.add_argument("--probe", metavar="ADDRESS", default="", help="only the probes whose address begins so")
    options = parser.parse_args(arguments)
    named = [target for name in options.targets for target in parse_target(name)]
    wanted = named or list(dict.fromkeys([*released_targets(), *released_targets(newest=True)]))
    probes = [probe for probe in PROBES if probe.address.startswith(options.probe)]
    missed = [
        target
        for target in wanted
        if not _measured(target, probes, missing=options.missing, partly=options.missing or bool(options.probe))
    ]
    write_pages()
    return 1 if missed else 0


def _measured(target: Target, probes: Sequence[Probe], *, missing: bool, partly: bool) -> bool:
    file = RESULTS / f"{target.name}-{target.version}.json"
    before = read_receipt(file) if partly and file.exists() else None
    if before and missing:
        probes = silent_on(before, probes)
    try:
        receipt = compact(measure([target], probes, jobs=default_jobs(), say=_say, listen=_listen))
        RESULTS.mkdir(exist_ok=True)
        write(extend(before, receipt) if before else receipt, file)
    except ResumptionError as error:
        _say(f"{target} could not be measured: {error}")
        return False
    _say(f"{target} was measured: {len(receipt.cells)} cells, by {len(probes)} probes")
    return True


def _listen(progress: Progress) -> None:
    if progress.problem:
        _say(f"{progress.job.probe.address} on {progress.job.spec.name}: {progress.problem}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
