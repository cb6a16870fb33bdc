"""The pytest plugin: a fixture that drills a program, and fails the test with the causal story of what it found.

    def test_a_dead_worker_charges_nobody_twice(drill):
        drill("app:graph", effects=["app:charge"], input={"amount": 100}, decide="yes")

`@pytest.mark.drill(…)` sets arguments for every drill of a test, class or module. `--resumption-json FILE` writes one
receipt of all drills of the run, those of pytest-xdist's workers included.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from resumption.harness.drill.engine import Drilled
    from resumption.history.events import Json

# Nothing of the harness is imported before a test asks for it: the plugin is loaded in every run of pytest.

__all__ = ["Drill", "drill"]

_OPTION = "--resumption-json"
_RECEIPTS = "resumption_receipts"
_MARK = "drill"


class Drill(Protocol):
    """What the fixture `drill` is."""

    def __call__(
        self,
        target: str | Callable[..., Any],
        *,
        effects: Sequence[str | Callable[..., Any]] = (),
        input: Json = {},  # noqa: B006 — a protocol's default is never called
        decide: Json | dict[str, Json] = None,
        otherwise: dict[str, Json] | None = None,
        stubs: dict[str, Json] | None = None,
        keys: dict[str, str] | None = None,
        real_effects: bool = False,
        guarded: bool = False,
        durability: str = "async",
        time: float | None = None,
        seed: int = 0,
    ) -> Drilled:
        """Drill a program, and fail if it breaches, or if that can't be told. What is drilled is returned.

        `target` and `effects` are `module:name`, or functions of a module. `decide` answers every gate, or maps nodes
        to answers; `otherwise` maps nodes to second answers. The rest is as for `resumption drill`; with `guarded`, it
        is the program behind `guard` and `@effect` that is drilled.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for a receipt."""
    group = parser.getgroup("resumption")
    group.addoption(_OPTION, metavar="FILE", default=None, help="Write one receipt of all drills, histories included.")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; and refuse a file for the receipt that can't be written, before a test runs."""
    config.addinivalue_line("markers", f"{_MARK}(**arguments): arguments for every use of the fixture `drill`")
    config.stash[_KEPT] = []
    if (file := config.getoption(_OPTION)) and not hasattr(config, "workeroutput"):
        from resumption.errors import OutputUnwritable
        from resumption.report.output import check_writable

        try:
            check_writable(Path(file))
        except OutputUnwritable as error:
            raise pytest.UsageError(f"{_OPTION}: {error}") from error


_KEPT: pytest.StashKey[list[str]] = pytest.StashKey()
"""The receipts of this process, as JSON text."""


@pytest.fixture
def drill(request: pytest.FixtureRequest) -> Drill:
    """Drill a LangGraph program: kill it, resume it, answer twice, and compare with a run without faults."""
    given: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers(_MARK))):
        given.update(mark.kwargs)
    return partial(_drill, request.config, **given)


def _drill(
    config: pytest.Config, target: Any, *, effects: Sequence[Any], guarded: bool = False, **given: Any
) -> Drilled:
    from resumption.errors import ResumptionError
    from resumption.harness.drill.engine import drill as run
    from resumption.harness.drill.verdicts import cells_of, receipt_of
    from resumption.harness.policy import ExitCode, Policy, exit_code
    from resumption.harness.runner import default_jobs

    __tracebackhide__ = True  # what was asked for wrongly was asked by the test
    try:
        (drilled,) = run(_request(target, effects, **given), jobs=default_jobs(), ways=(guarded,))
    except ResumptionError as error:
        raise error.with_traceback(None) from None
    if config.getoption(_OPTION):
        import msgspec

        config.stash[_KEPT].append(msgspec.json.encode(receipt_of([drilled])).decode())
    match exit_code(cells_of(drilled), Policy()):
        case ExitCode.FINDINGS:
            from resumption.report.drill import stories

            pytest.fail("\n\n".join(stories(drilled)), pytrace=False)
        case ExitCode.INCONCLUSIVE:
            pytest.fail(f"The drill is inconclusive:\n{_reasons(drilled)}", pytrace=False)
    return drilled


def _request(
    target: Any,
    effects: Sequence[Any],
    *,
    decide: Any = None,
    otherwise: dict[str, Json] | None = None,
    keys: dict[str, str] | None = None,
    time: float | None = None,
    stubs: dict[str, Json] | None = None,
    **given: Any,
) -> Any:
    from resumption.harness.drill.decisions import Decisions
    from resumption.harness.drill.request import Request
    from resumption.planes.drill.settings import short_name

    names = tuple(_name(effect) for effect in effects)
    named, everywhere = (decide, None) if isinstance(decide, dict) else ({}, decide)
    return Request(
        target=_name(target),
        effects=names,
        decisions=Decisions(everywhere=everywhere, named=named, otherwise=otherwise or {}),
        keys={short_name(name, names): argument for name, argument in (keys or {}).items()},
        stubs=stubs or {},
        seconds=time,
        folder=os.getcwd(),
        **given,
    )


def _name(target: Any) -> str:
    """`module:name` of a function, which worker processes import."""
    if isinstance(target, str):
        return target
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if not module or not name:
        raise pytest.UsageError(f"drill: a {type(target).__name__} has no name to import it by: write 'module:name'.")
    return f"{module}:{name}"


def _reasons(drilled: Drilled) -> str:
    reasons = [*drilled.unsteady, *(one.problem for one in drilled.outcomes if one.problem)]
    if drilled.left_out:
        reasons.append(f"the time didn't suffice for {drilled.left_out} protocols")
    return "\n".join(dict.fromkeys(reasons))


# The receipt of the run -----------------------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take the receipts of a worker of pytest-xdist."""
    node.config.stash[_KEPT].extend(getattr(node, "workeroutput", {}).get(_RECEIPTS, []))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the receipts to pytest-xdist's controller, or write them."""
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_RECEIPTS] = config.stash[_KEPT]
        return
    file, kept = config.getoption(_OPTION), config.stash[_KEPT]
    if file and kept:
        _write(Path(file), kept)
    elif file:
        sys.stderr.write(f"{_OPTION}: no test drilled anything, so {file} was not written\n")


def _write(file: Path, kept: Sequence[str]) -> None:
    import msgspec

    from resumption.harness.measurement import join
    from resumption.harness.receipts import Receipt, write
    from resumption.report.output import writing

    receipts = [msgspec.json.decode(text, type=Receipt) for text in kept]
    with writing(file):
        write(join(receipts), file)
