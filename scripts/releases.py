"""Measure what changed between LangGraph's releases: `python scripts/releases.py [VERSION ...]`.

Of each release with a committed lock, on SQLite, the paths and probes below: those that tell releases apart, and others
for comparison. The receipts go to `results/langgraph/`, compact. `resumption compare` takes two of them.
"""

from __future__ import annotations

import sys

from pages import RESULTS

from resumption.errors import ResumptionError
from resumption.harness.locks import read_recipe
from resumption.harness.measurement import join, measure
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt, write
from resumption.harness.rejudging import compact
from resumption.harness.targets import parse_target
from resumption.planes.langgraph.spec import GRAPH

_MEASURED = {
    "graph": (
        *("fork/two", "interrupt/task-before", "consume/stray", "consume/next", "consume/one", "address", "inspect"),
        *("validity/terminal", "validity/middle"),
    ),
    "graph-delta": ("inspect",),
    "subgraph": ("crash/fan-out",),
    "functional": ("consume/next", "consume/stray", "fork/two"),
}
_DELTA_SINCE = (1, 2)


def main(versions: list[str]) -> int:
    """Measure the releases, write a receipt of each, and return 1 if one could not be measured."""
    missed = [version for version in versions or sorted(read_recipe(GRAPH).releases) if not _measured(version)]
    return 1 if missed else 0


def _measured(version: str) -> bool:
    paths = [path for path in _MEASURED if path != "graph-delta" or _release(version) >= _DELTA_SINCE]
    try:
        receipts = [_part(version, path) for path in paths]
    except ResumptionError as error:
        sys.stderr.write(f"{version} could not be measured: {error}\n")
        return False
    folder = RESULTS / "langgraph"
    folder.mkdir(parents=True, exist_ok=True)
    write(compact(join(receipts)), folder / f"langgraph-{version}.json")
    return True


def _part(version: str, path: str) -> Receipt:
    probes = [probe for probe in PROBES if probe.address.startswith(_MEASURED[path])]
    return measure(parse_target(f"langgraph/{path}[sqlite]@{version}"), probes, jobs=2)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
