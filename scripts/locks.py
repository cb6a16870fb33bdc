"""Resolve the committed locks again: `python scripts/locks.py [FAMILY ...]`, or `make locks`.

Reads each family's `locks/recipe.toml` and rewrites the lock of every release that it lists. A recipe pins the day, so
an unchanged recipe gives unchanged locks, apart from files that were added to or withdrawn from a release since. The
standalone programs of public cases have recipes of their own, under the names of their distributions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from resumption.harness.locks import read_recipe, resolve
from resumption.planes.interface import PlaneSpec
from resumption.planes.registry import specs

ROOT = Path(__file__).parent.parent
PLANES = ROOT / "src" / "resumption" / "planes"
CASES = ROOT / "tests" / "cases"


def main(families: list[str]) -> None:
    """Rewrite the locks of the families named, or of all that have a recipe."""
    for family, spec, folder in (*_planes(), *_cases()):
        if families and family not in families:
            continue
        recipe = read_recipe(spec)
        for stale in {*folder.glob("*.txt")} - {folder / f"{version}.txt" for version in recipe.releases}:
            stale.unlink()
        for version, as_of in recipe.releases.items():
            text = resolve(spec, version, recipe.requires, folder=folder, as_of=as_of)
            (folder / f"{version}.txt").write_text(text, encoding="utf-8")
            sys.stdout.write(f"{family} {version}, as of {as_of}\n")


def _planes() -> Iterator[tuple[str, PlaneSpec, Path]]:
    for folder in sorted(PLANES.glob("*/locks")):
        family = folder.parent.name.replace("_", "-")
        yield family, specs(family)[0], folder


def _cases() -> Iterator[tuple[str, PlaneSpec, Path]]:
    sys.path.insert(0, str(CASES))
    for folder in sorted(CASES.glob("standalone/*/locks")):
        package = folder.parent.name.replace("_", "-")
        adapter = f"standalone.{folder.parent.name}.locks"
        yield package, replace(specs("reference")[0], package=package, adapter=adapter), folder


if __name__ == "__main__":
    main(sys.argv[1:])
