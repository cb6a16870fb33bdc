"""Measure what the published matrix is made from: `python scripts/matrix.py [PLANE@VERSION ...]`, or `make matrix`.

Without a name, every framework is measured at the release that the paper measured, and at its newest. Each release's
receipt goes to `results/` as soon as it is there, compact; a release that can't be measured keeps the one it has.
"""

from __future__ import annotations

import sys

from pages import RESULTS
from pages import main as write_pages

from resumption.errors import ResumptionError
from resumption.harness.measurement import measure
from resumption.harness.probes import PROBES
from resumption.harness.receipts import write
from resumption.harness.rejudging import compact
from resumption.harness.runner import Progress, default_jobs
from resumption.harness.targets import Target, parse_target, released_targets


def main(names: list[str]) -> int:
    """Measure, write receipts and pages, and return 1 if a release could not be measured."""
    named = [target for name in names for target in parse_target(name)]
    wanted = named or list(dict.fromkeys([*released_targets(), *released_targets(newest=True)]))
    missed = [target for target in wanted if not _measured(target)]
    write_pages()
    return 1 if missed else 0


def _measured(target: Target) -> bool:
    try:
        receipt = measure([target], PROBES, jobs=default_jobs(), say=_say, listen=_listen)
    except ResumptionError as error:
        _say(f"{target} could not be measured: {error}")
        return False
    RESULTS.mkdir(exist_ok=True)
    write(compact(receipt), RESULTS / f"{target.name}-{target.version}.json")
    _say(f"{target} was measured: {len(receipt.cells)} cells, {len(receipt.histories)} histories")
    return True


def _listen(progress: Progress) -> None:
    if progress.problem:
        _say(f"{progress.job.probe.address} on {progress.job.spec.name}: {progress.problem}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
