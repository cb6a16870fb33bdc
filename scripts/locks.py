"""Resolve the committed locks again: `python scripts/locks.py [FAMILY ...]`, or `make locks`.

Reads each family's `locks/recipe.toml` and rewrites the lock of every release that it lists. A recipe pins the day, so
an unchanged recipe gives unchanged locks, apart from files that were added to or withdrawn from a release since.
"""

from __future__ import annotations

import sys
from pathlib import Path

from resumption.harness.locks import read_recipe, resolve
from resumption.planes.registry import specs

PLANES = Path(__file__).parent.parent / "src" / "resumption" / "planes"


def main(families: list[str]) -> None:
    """Rewrite the locks of the families named, or of all that have a recipe."""
    for folder in sorted(PLANES.glob("*/locks")):
        family = folder.parent.name.replace("_", "-")
        if families and family not in families:
            continue
        spec = specs(family)[0]
        recipe = read_recipe(spec)
        for stale in {*folder.glob("*.txt")} - {folder / f"{version}.txt" for version in recipe.releases}:
            stale.unlink()
        for version, as_of in recipe.releases.items():
            text = resolve(spec, version, recipe.requires, folder=folder, as_of=as_of)
            (folder / f"{version}.txt").write_text(text, encoding="utf-8")
            sys.stdout.write(f"{family} {version}, as of {as_of}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
