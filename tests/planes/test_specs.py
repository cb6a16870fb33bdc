"""What every plane says of itself hangs together, and its adapter has what the harness will call."""

from __future__ import annotations

import ast
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from resumption.planes.interface import Capability, Durability, Operation, PlaneSpec
from resumption.planes.reference.spec import REFERENCE
from resumption.planes.registry import families, specs

ALL = [spec for family in families() for spec in specs(family)]


def _exported(adapter: str) -> set[str]:
    """The names that a module defines or imports at its top, read without importing it: its framework may be absent."""
    found = find_spec(adapter)
    assert found is not None
    assert found.origin is not None
    names: set[str] = set()
    for node in ast.parse(Path(found.origin).read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ImportFrom(names=imported):
                names.update(alias.asname or alias.name for alias in imported)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


def _needs_tamper(spec: PlaneSpec) -> bool:
    needed = (Capability.TAMPER, Capability.SCHEMA, Capability.PROCESS_DEATH)
    return any(not any(spec.reason_against(backend, need) for need in needed) for backend in spec.backends)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: f"{spec.name}-{spec.path}")
def test_an_adapter_exports_what_the_harness_calls(spec: PlaneSpec) -> None:
    exported = _exported(spec.adapter)
    assert "open_run" in exported
    assert not _needs_tamper(spec) or "tamper" in exported
    assert not any(backend.loses_leases for backend in spec.backends) or "lose_leases" in exported


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: f"{spec.name}-{spec.path}")
def test_a_plane_whose_caller_saves_states_when(spec: PlaneSpec) -> None:
    assert (spec.durability is Durability.CALLER) is bool(spec.snapshots)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: f"{spec.name}-{spec.path}")
def test_a_plane_has_a_form_for_what_it_can_do(spec: PlaneSpec) -> None:
    wanted = {
        Capability.GATE: Operation.DELIVER,
        Capability.RECOVERY: Operation.RECOVER,
        Capability.FORK: Operation.FORK,
    }
    for capability, operation in wanted.items():
        for backend in spec.backends:
            assert spec.reason_against(backend, capability) or spec.forms_of(operation), (backend.name, capability)


def test_where_the_caller_saves_no_write_can_be_refused_and_the_policy_is_the_reason() -> None:
    (backend,) = REFERENCE.backends
    assert REFERENCE.reason_against(backend, Capability.OWN_WRITES) == ""
    saved = replace(REFERENCE, durability=Durability.CALLER, snapshots="Each task's end is saved.")
    assert saved.reason_against(backend, Capability.OWN_WRITES).endswith("affair. Each task's end is saved.")
