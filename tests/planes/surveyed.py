"""What the tests of the surveyed frameworks' planes share: that a plane's data hang together, and random workloads."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Sequence
from importlib import resources

from resumption.contract.properties import Property
from resumption.harness.installations import isolated
from resumption.harness.lab import Lab
from resumption.harness.locks import read_recipe
from resumption.harness.probes.probe import probe
from resumption.harness.runner import run_suite
from resumption.history.events import EffectBegin, Park, Return
from resumption.history.ndjson import decode_history
from resumption.history.workload import Effect, Interrupt, Task, Workload
from resumption.planes.interface import PlaneSpec
from resumption.planes.statements import cited_by, load

__all__ = ["assert_consistent", "check_quotes", "check_random_workloads", "random_workload"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_IN_PACKAGE = re.compile(r"[\w.]+:[\w.]+|\w+ in [\w.]+")
_SEEDS = 6
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


@probe(
    "random/gate-anywhere",
    expectation="the run parks at its gate alone, ends with its answer, and fires each effect once",
    source="a random workload, to which no adapter can be wired",
    decides=(Property.EFFECT_EXACTLY_ONCE, Property.PREFIX_CONTINUATION, Property.LIVENESS),
)
def _gate_anywhere(lab: Lab) -> None:
    """Run random workloads up to their gate, answer it in another process, and let them end."""
    for seed in range(_SEEDS):
        with lab.trial(random_workload(seed)[0]) as trial:
            first = trial.process()
            outcome = first.start()
            second = trial.successor(first)
            trial.complete(second, outcome, "go")


def check_random_workloads(spec: PlaneSpec) -> None:
    """Run random workloads on a plane, in the environment of its newest locked release."""
    version = list(read_recipe(spec).releases)[-1]
    receipt = run_suite([spec], [_gate_anywhere], jobs=2, installation=isolated(spec, version))
    histories = [decode_history(text.encode()) for text in receipt.histories.values()]
    assert len(histories) == _SEEDS
    for seed, history in enumerate(histories):
        workload, gate = random_workload(seed)
        names = [task.name for task in workload.tasks]
        assert history.workload == workload
        assert [[pending.name for pending in park.pending] for park in history.of(Park)] == [[f"{names[gate]}?"]]
        assert [end.trail for end in history.of(Return)] == [[*names[:gate], f"{names[gate]}=go", *names[gate + 1 :]]]
        assert [begin.effect for begin in history.of(EffectBegin)] == [f"{name}!" for name in names]
        assert len(history.fires()) == len(names)


_TELL = """
import importlib, inspect, json, sys
def told(place):
    name, _, module = place.partition(" in ")
    if module:
        return inspect.getsource(importlib.import_module(module))
    module, _, name = place.partition(":")
    target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    return inspect.getdoc(target)
print(json.dumps({place: told(place) for place in sys.argv[1:]}))
"""


def check_quotes(spec: PlaneSpec) -> None:
    """Every docstring and comment that a plane quotes stands in the newest locked release word for word."""
    quoted = [found for found in load(spec) if _IN_PACKAGE.fullmatch(found.place)]
    assert quoted
    python = isolated(spec, list(read_recipe(spec).releases)[-1]).python
    places = sorted({found.place for found in quoted})
    done = subprocess.run([python, "-W", "ignore", "-c", _TELL, *places], capture_output=True, text=True, check=True)
    texts = json.loads(done.stdout.splitlines()[-1])
    assert [found.id for found in quoted if _plain(found.text) not in _plain(texts[found.place])] == []


def _plain(text: str) -> str:
    """The words of a text, without line breaks and marks of emphasis and code."""
    return " ".join(text.replace("*", "").replace("`", "").split())
