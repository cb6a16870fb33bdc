"""What the tests of the surveyed frameworks' planes share: that a plane's data hang together, and random workloads."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from importlib import resources

from resumption.harness.locks import read_recipe
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import PlaneSpec
from resumption.planes.statements import cited_by, load

__all__ = ["assert_consistent", "random_workload"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PIN = re.compile(r"^[a-z0-9._-]+(\[[a-z,]+\])?==\S+( ; .+)? \\$")
_HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def random_workload(seed: int) -> tuple[Workload, int]:
    """Three to eight tasks with names of their own, each with an effect, and the place of the one that is a gate."""
    chance = random.Random(seed)
    names = ["".join(chance.sample(_LETTERS, 6)) for _ in range(chance.randint(3, 8))]
    gate = chance.randrange(len(names))
    tasks = [
        Task(name, (*((Interrupt(f"{name}?"),) if place == gate else ()), Effect(f"{name}!")))
        for place, name in enumerate(names)
    ]
    return Workload(tuple(tasks)), gate


def assert_consistent(specs: Sequence[PlaneSpec], *, undocumented: frozenset[str] = frozenset()) -> None:
    """Every form but those named is documented, every statement speaks of what exists, and every lock is sealed."""
    for spec in specs:
        documented = {form.name: cited_by(load(spec), form) for form in spec.forms}
        assert {name for name, found in documented.items() if found is None} == undocumented
        assert all(name in found.forms for name, found in documented.items() if found)
        assert all(reason.endswith(".") for reason in spec.lacks.values())
    citations = {found for spec in specs for found in load(spec)}
    assert {form for found in citations for form in found.forms} <= {form.name for spec in specs for form in spec.forms}
    assert {path for found in citations for path in found.paths} <= {spec.path for spec in specs}
    _assert_locked(specs[0])


def _assert_locked(spec: PlaneSpec) -> None:
    releases = read_recipe(spec).releases
    assert releases
    for version in releases:
        folder = resources.files(spec.adapter.rpartition(".")[0]) / "locks"
        lines = (folder / f"{version}.txt").read_text(encoding="utf-8").splitlines()
        assert f"{spec.package}=={version} \\" in lines
        strange = [line for line in lines if not _PIN.match(line) and not _HASH.match(line)]
        assert strange == [], "a lock holds pins and hashes, and no address"
