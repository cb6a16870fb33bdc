"""Locks: which distributions, with which hashes, an isolated environment of a framework's release is made of.

The locks of the releases that matter are committed beside the plane, in `locks/VERSION.txt`. `locks/recipe.toml` says
what is installed along with the framework, as of which day each lock was resolved, so that it can be resolved again
(`scripts/locks.py`), which release is the one that the paper measured, and which stands for the newest. Another release
is resolved on the spot, once: what came out is kept in the cache, so that further runs on this machine measure the same
set.

Locks hold for every platform and for the Pythons that this package supports. They name no package index.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from resumption.harness import uv
from resumption.planes.interface import PlaneSpec

__all__ = ["Lock", "Recipe", "find_lock", "read_recipe", "resolve"]

_OLDEST_PYTHON = "3.11"


@dataclass(frozen=True, slots=True)
class Lock:
    """The set that an environment is made of, as hashed requirements."""

    text: str
    committed: bool
    """Whether it came with the plane; otherwise it was resolved on this machine."""

    @property
    def digest(self) -> str:
        """The hash by which environments are shared."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What the locks of a framework are resolved from."""

    requires: tuple[str, ...] = ()
    """What is installed along with the framework."""
    releases: dict[str, date] = field(default_factory=dict)
    """The releases with a committed lock, and the day as of which each was resolved."""
    paper: str = ""
    """The release among them that the paper measured; empty if the family isn't in the paper."""
    newest: str = ""
    """The release among them that stands for the newest; empty if none does."""

    def __post_init__(self) -> None:
        for key, release in (("paper", self.paper), ("newest", self.newest)):
            if release and release not in self.releases:
                raise ValueError(f"{key} = {release!r} is none of the releases that it lists")


def read_recipe(spec: PlaneSpec) -> Recipe:
    """The recipe beside a plane, or beside the one whose locks it shares.

    Without one, the plane's own `requires` are installed and nothing is committed.
    """
    file = _folder(spec) / "recipe.toml"
    if not file.is_file():
        return Recipe(requires=tuple(spec.requires))
    return msgspec.toml.decode(file.read_bytes(), type=Recipe)


def find_lock(spec: PlaneSpec, version: str, cache: Path) -> Lock:
    """The lock of a release: the committed one, one resolved on this machine before, or one resolved now.

    Raises `EnvironmentUnavailable` if the release can't be resolved.
    """
    committed = _folder(spec) / f"{version}.txt"
    if committed.is_file():
        return Lock(committed.read_text(encoding="utf-8"), committed=True)
    recipe = read_recipe(spec)
    wanted = hashlib.sha256("\n".join(sorted(recipe.requires)).encode()).hexdigest()[:8]
    kept = cache / "locks" / f"{spec.package}-{version}-{wanted}.txt"
    if not kept.is_file():
        _write_whole(kept, resolve(spec, version, recipe.requires, folder=cache))
    return Lock(kept.read_text(encoding="utf-8"), committed=False)


def resolve(spec: PlaneSpec, version: str, requires: Sequence[str], *, folder: Path, as_of: date | None = None) -> str:
    """Resolve a release and what goes with it, as of a day or of now; uv runs in `folder`.

    Raises `EnvironmentUnavailable` if that can't be done.
    """
    arguments = ["pip", "compile", "--quiet", "--universal", "--python-version", _OLDEST_PYTHON, "--generate-hashes"]
    arguments += ["--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate"]
    if as_of is not None:
        arguments += ["--exclude-newer", as_of.isoformat()]
    return uv.run(
        [*arguments, "-"],
        purpose=f"Resolving {spec.package} {version}",
        folder=folder,
        text="\n".join([f"{spec.package}=={version}", *requires]),
    )


def _folder(spec: PlaneSpec) -> Traversable:
    return resources.files(spec.locks or spec.adapter.rpartition(".")[0]) / "locks"


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that no other process sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
