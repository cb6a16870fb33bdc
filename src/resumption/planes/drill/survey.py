"""Looks at a program before it is drilled, in a process of its own: `python -m resumption.planes.drill.survey FILE`.

What is wrong with what the user named is told here, once, by its code; and what a drill must know is written to FILE.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from resumption.errors import ResumptionError
from resumption.planes.drill.exchange import find
from resumption.planes.drill.programs import fetch, load, needs_event_loop, nodes
from resumption.planes.drill.settings import Settings
from resumption.planes.drill.stubs import stub_value

__all__ = ["survey"]


def survey(settings: Settings) -> dict[str, Any]:
    """The program's nodes by path, whether it must be awaited, and the modules that can be imported beforehand."""
    before = set(sys.modules)
    source = load(settings.target, settings.folder)
    for name in (*settings.effects, *(settings.stubs.keys() - set(settings.effects))):
        found = find(name, fetch(name, settings.folder))
        if not settings.real_effects or name not in settings.effects:
            stub_value(name, found.function, settings.stubs)
    return {
        "nodes": list(nodes(source)),
        "asynchronous": needs_event_loop(source),
        "preload": _importable(set(sys.modules) - before),
    }


def _importable(names: set[str]) -> list[str]:
    """Of the modules that the program imported, those of installed distributions; none if one started a thread."""
    threads = Path("/proc/self/task")
    if threads.is_dir() and len(os.listdir(threads)) > 1:
        return []
    return [name for name in sys.modules if name in names and _installed(name)]


def _installed(name: str) -> bool:
    module = sys.modules[name]
    spec = getattr(module, "__spec__", None)
    origin = getattr(spec, "origin", None) or ""
    return getattr(spec, "name", "") == name and "site-packages" in Path(origin).parts


def main() -> None:
    """Write the survey, or the error, to the file named."""
    try:
        said: dict[str, Any] = survey(Settings.handed_over())
    except ResumptionError as error:
        said = {"error": type(error).__name__, "what": error.what, "advice": error.advice}
    Path(sys.argv[1]).write_text(json.dumps(said))
    os._exit(0)  # whatever the program started, nobody waits for it


if __name__ == "__main__":
    main()
