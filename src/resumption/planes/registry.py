"""The planes that the harness knows: those of this package, and those that other packages register.

Another package adds a family by an entry point in the group `resumption.planes`, whose name is the family's and whose
object is a sequence of `PlaneSpec`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points

from resumption.errors import EnvironmentBroken, UnknownName
from resumption.planes.interface import PlaneSpec

__all__ = ["GROUP", "families", "specs"]

GROUP = "resumption.planes"

_BUILT_IN = {
    "langgraph": "resumption.planes.langgraph.spec",
    "langgraph-guarded": "resumption.planes.langgraph_guarded.spec",
    "llamaindex": "resumption.planes.llamaindex.spec",
    "autogen": "resumption.planes.autogen.spec",
    "pydantic-graph": "resumption.planes.pydantic_graph.spec",
    "crewai": "resumption.planes.crewai.spec",
    "dbos": "resumption.planes.dbos.spec",
    "reference": "resumption.planes.reference",
    "burr": "resumption.planes.burr.spec",
    "agent-framework": "resumption.planes.agent_framework.spec",
    "google-adk": "resumption.planes.google_adk.spec",
    "strands": "resumption.planes.strands.spec",
    "faulty": "resumption.planes.faulty",
}


def families() -> tuple[str, ...]:
    """The names of all families of planes, the built-in ones first."""
    return tuple(dict.fromkeys([*_BUILT_IN, *sorted(entry_points(group=GROUP).names)]))


def specs(name: str) -> Sequence[PlaneSpec]:
    """The planes called `name`, or all of the family called so.

    Raises `UnknownName`, and `EnvironmentBroken` for a family of another package that can't be loaded.
    """
    for family in families():
        if name == family or name.startswith(f"{family}-"):
            found = _load(family)
            chosen = found if name == family else [spec for spec in found if spec.name == name]
            if chosen:
                return chosen
    raise UnknownName(
        f"There is no plane called {name!r}.", advice=f"`resumption planes` lists them: {', '.join(families())}."
    )


def _load(family: str) -> Sequence[PlaneSpec]:
    if family in _BUILT_IN:
        loaded: Sequence[PlaneSpec] = import_module(_BUILT_IN[family]).SPECS
        return loaded
    found = entry_points(group=GROUP, name=family)
    registrars = ", ".join(sorted(entry.dist.name if entry.dist else entry.value for entry in found))
    advice = "Repair or uninstall it. docs/adapters.md says what is registered."
    if len(found) > 1:
        raise EnvironmentBroken(f"Planes called {family!r} are registered by {registrars}.", advice="Uninstall one.")
    (entry,) = found
    try:
        registered = entry.load()
    except Exception as error:  # whatever another package raises as it is imported
        why = f"{type(error).__name__}: {error}"
        raise EnvironmentBroken(
            f"The planes {family!r} of {registrars} can't be loaded from {entry.value}: {why}.",
            advice=advice,
        ) from error
    if not isinstance(registered, Sequence) or not all(isinstance(spec, PlaneSpec) for spec in registered):
        raise EnvironmentBroken(f"{entry.value} of {registrars} is no sequence of PlaneSpec.", advice=advice)
    return registered
