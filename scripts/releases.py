"""Measure what changed between a framework's releases: `python scripts/releases.py [FAMILY[@VERSION] ...]`.

Of each release with a committed lock, the paths and probes below: those that tell releases apart, and others for
comparison. The receipts go to `results/FAMILY/`, compact. `resumption compare` takes two of them. A release that can't
be measured keeps the receipt that it has.
"""

from __future__ import annotations

import sys

from packaging.version import Version
from pages import RESULTS

from resumption.errors import ResumptionError
from resumption.harness.locks import read_recipe
from resumption.harness.measurement import join, measure
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Receipt, write
from resumption.harness.rejudging import compact
from resumption.harness.targets import Target, parse_target
from resumption.planes.registry import specs

_ALL = ("",)
_USUAL = (
    "fork/two",
    "interrupt/task-before",
    "consume/stray",
    "consume/identical",
    "validity/terminal",
    "crash/parked",
)

_MEASURED: dict[str, dict[str, tuple[str, ...]]] = {
    "langgraph": {
        "graph[sqlite]": _ALL,
        "graph-delta[sqlite]": ("inspect",),
        "subgraph[sqlite]": ("crash/fan-out",),
        "functional[sqlite]": ("consume/next", "consume/stray", "fork/two"),
    },
    "llamaindex": {"two-step": (*_USUAL, "interrupt/parallel", "consume/while"), "wait-for-event": _USUAL},
    "pydantic-graph": {"graph": (*_USUAL, "crash/exception")},
    "crewai": {"persist": _USUAL, "checkpoint": (*_USUAL, "crash/spawned"), "human-feedback": _USUAL},
}
_SINCE = {"graph-delta[sqlite]": Version("1.2")}
"""The first release that has the path, where older ones are measured too."""


def main(names: list[str]) -> int:
    """Measure the releases, write a receipt of each, and return 1 if one could not be measured."""
    targets = [target for name in names or _MEASURED for target in parse_target(name)]
    releases = [(target.name, version) for target in targets for version in _versions(target)]
    missed = [release for release in releases if not _measured(*release)]
    return 1 if missed else 0


def _versions(target: Target) -> list[str]:
    return [target.version] if target.version else sorted(read_recipe(specs(target.name)[0]).releases, key=Version)


def _measured(family: str, version: str) -> bool:
    paths = [path for path in _MEASURED[family] if Version(version) >= _SINCE.get(path, Version("0"))]
    try:
        receipts = [_part(family, version, path) for path in paths]
    except ResumptionError as error:
        sys.stderr.write(f"{family} {version} could not be measured: {error}\n")
        return False
    folder = RESULTS / family
    folder.mkdir(parents=True, exist_ok=True)
    write(compact(join(receipts)), folder / f"{family}-{version}.json")
    sys.stderr.write(f"{family} {version} was measured\n")
    return True


def _part(family: str, version: str, path: str) -> Receipt:
    probes = [probe for probe in PROBES if probe.address.startswith(_MEASURED[family][path])]
    return measure(parse_target(f"{family}/{path}@{version}"), probes, jobs=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
