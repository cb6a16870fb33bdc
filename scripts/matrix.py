"""Measure what the published matrix is made from: `python scripts/matrix.py [--missing] [PLANE@VERSION ...]`.

Without a name, as `make matrix` calls it, every framework is measured at the release that the paper measured, and at
its newest. Each receipt goes to `results/` as soon as it is there, compact; a release that can't be measured keeps the
one it has. With `--missing`, only the probes that a receipt says nothing of are run, and added to it.
"""

from __future__ import annotations

import sys

from pages import RESULTS
from pages import main as write_pages

from resumption.errors import ResumptionError
from resumption.harness.measurement import measure
from resumption.harness.probes import PROBES
from resumption.harness.receipts import read_receipt, write
from resumption.harness.rejudging import compact, extend, silent_on
from resumption.harness.runner import Progress, default_jobs
from resumption.harness.targets import Target, parse_target, released_targets


def main(arguments: list[str]) -> int:
    """Measure, write receipts and pages, and return 1 if a release could not be measured."""
    missing = "--missing" in arguments
    named = [target for name in arguments if name != "--missing" for target in parse_target(name)]
    wanted = named or list(dict.fromkeys([*released_targets(), *released_targets(newest=True)]))
    missed = [target for target in wanted if not _measured(target, missing=missing)]
    write_pages()
    return 1 if missed else 0


def _measured(target: Target, *, missing: bool) -> bool:
    file = RESULTS / f"{target.name}-{target.version}.json"
    before = read_receipt(file) if missing and file.exists() else None
    probes = silent_on(before, PROBES) if before else PROBES
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
    sys.exit(main(sys.argv[1:]))
