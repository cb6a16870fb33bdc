"""`resumption drill`: kill and resume a user's own LangGraph program, and tell what fires twice."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec

from resumption.errors import EnvironmentUnavailable
from resumption.harness.drill.decisions import YES, Decisions
from resumption.harness.drill.engine import Drilled
from resumption.harness.drill.engine import drill as run_drill
from resumption.harness.drill.request import Request
from resumption.harness.drill.verdicts import cells_of, receipt_of
from resumption.harness.policy import ExitCode, FailOn, Policy, exit_code
from resumption.harness.receipts import write
from resumption.harness.runner import default_jobs
from resumption.history.events import Json
from resumption.report.drill import print_drills
from resumption.report.output import check_writable, writing
from resumption.report.text import report_console

__all__ = ["drill", "needs_posix", "progress_lines"]

_FILE = click.Path(path_type=Path)
_LINES = 10
_EPILOG = "Exit codes: 0 clean, 1 findings, 2 usage, 3 inconclusive. With --guarded, of the guarded program."


@click.command("drill", epilog=_EPILOG, short_help="Kill and resume your own graph; tell what fires twice.")
@click.argument("target", metavar="MODULE:GRAPH")
@click.option(
    "--effect", "effects", metavar="MODULE:FUNCTION", multiple=True, required=True, help="What must not happen twice."
)
@click.option("--input", "input_", metavar="JSON", default="{}", show_default=True, help="The run's input.")
@click.option("--decide", "decided", metavar="yes|[NODE=]JSON", multiple=True, help="How gates are answered.")
@click.option("--otherwise", "others", metavar="NODE=JSON", multiple=True, help="A second, other answer, for forks.")
@click.option("--stub", "stubs", metavar="MODULE:FUNCTION=JSON", multiple=True, help="What a function returns instead.")
@click.option(
    "--key",
    "keys",
    metavar="MODULE:FUNCTION=ARGUMENT",
    multiple=True,
    help="The idempotency key, by which the provider deduplicates.",
)
@click.option("--real-effects", is_flag=True, help="Call the effects for real. Without it, they are stubbed.")
@click.option("--guarded", is_flag=True, help="Drill it once more with guard() and @effect, and show both.")
@click.option(
    "--durability",
    type=click.Choice(["sync", "async", "exit"]),
    default="async",
    show_default=True,
    help="As for invoke().",
)
@click.option(
    "--time",
    "seconds",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Stop after this long; what is left out is told.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The order of the protocols under --time.")
@click.option("--jobs", type=click.IntRange(min=1), help="Protocols at once.  [default: two for each core]")
@click.option("--json", "receipt_file", metavar="FILE", type=_FILE, help="Write the receipt, histories included.")
@click.option(
    "--fail-on",
    type=click.Choice(["violation", "breach", "never"]),
    default="violation",
    show_default=True,
    help="What makes the exit code 1.",
)
@click.option("-v", "--verbose", is_flag=True, help="Tell every story, not one of each kind.")
@click.pass_context
def drill(
    ctx: click.Context,
    target: str,
    effects: tuple[str, ...],
    input_: str,
    decided: tuple[str, ...],
    others: tuple[str, ...],
    stubs: tuple[str, ...],
    keys: tuple[str, ...],
    real_effects: bool,
    guarded: bool,
    durability: str,
    seconds: float | None,
    seed: int,
    jobs: int | None,
    receipt_file: Path | None,
    fail_on: str,
    verbose: bool,
) -> None:
    """Find out what your own LangGraph program does when its worker dies, and when an answer comes twice.

    GRAPH is a compiled graph, a builder, or a function without arguments that returns one; it is run on a SQLite saver
    of the drill's own. Its gates are discovered by running it. Then it is killed with SIGKILL after every storage
    operation and around every effect, resumed in every documented form; each answer is delivered twice, one after the
    other and at once; and another answer is given afterwards. All is compared with a run without faults.

    Effects are stubbed unless --real-effects is given: a call of one is a row in a record, and returns what --stub
    says, or something empty that its annotation allows.
    """
    needs_posix()
    request = Request(
        target=target,
        effects=tuple(dict.fromkeys(effects)),
        input=_json(input_, "--input"),
        decisions=_decisions(decided, others),
        stubs={name: _json(text, f"--stub {name}") for name, text in _pairs(stubs, "--stub")},
        keys=_keys(keys, effects),
        real_effects=real_effects,
        durability=durability,
        seed=seed,
        seconds=seconds,
        folder=os.getcwd(),
    )
    if receipt_file:
        check_writable(receipt_file)
    ways = (False, True) if guarded else (False,)
    drills = run_drill(request, ways=ways, jobs=jobs or default_jobs(), listen=progress_lines())
    if receipt_file:
        with writing(receipt_file):
            write(receipt_of(drills), receipt_file)
    code = exit_code(cells_of(drills[-1]), Policy(FailOn(fail_on)))
    print_drills(drills, report_console(), verbose=verbose)
    _print_closing(drills, code, fail_on)
    ctx.exit(code)


def needs_posix() -> None:
    """Raise `EnvironmentUnavailable` where there are no POSIX processes."""
    if sys.platform == "win32":
        raise EnvironmentUnavailable("A drill needs POSIX processes.", advice="On Windows, run it in WSL.")


def progress_lines() -> Callable[[int, int, str], None]:
    """A listener that says on standard error how far a drill is, ten times."""

    def say(done: int, total: int, _: str) -> None:
        if done * _LINES // total > (done - 1) * _LINES // total:
            click.echo(f"{done} of {total} protocols done", err=True)

    return say


def _print_closing(drills: Sequence[Drilled], code: ExitCode, fail_on: str) -> None:
    seed = drills[0].request.seed
    click.echo(f"\n exit   {code:d} (--fail-on {fail_on}, --seed {seed})")


def _decisions(decided: Sequence[str], others: Sequence[str]) -> Decisions:
    everywhere: Json = None
    named: dict[str, Json] = {}
    for text in decided:
        node, equals, value = text.partition("=")
        if equals and _is_name(node):
            named[node] = _value(value, f"--decide {node}")
        else:
            everywhere = _value(text, "--decide")
    otherwise = {node: _value(text, f"--otherwise {node}") for node, text in _pairs(others, "--otherwise")}
    return Decisions(everywhere=everywhere, named=named, otherwise=otherwise)


def _is_name(text: str) -> bool:
    """Whether what stands before an equals sign is a node's name, and not the beginning of a JSON value."""
    return bool(text) and text[0] not in '{["'


def _value(text: str, where: str) -> Json:
    return text if text in (YES, "no") else _json(text, where)


def _json(text: str, where: str) -> Json:
    try:
        value = json.loads(text, parse_constant=_refuse)
        if msgspec.json.decode(msgspec.json.encode(value)) != value:
            raise ValueError("it has a number that is too large")
    except (ValueError, OverflowError, RecursionError) as error:  # also for what no receipt could keep
        raise click.UsageError(f"{where}: {text!r:.200} is no JSON: {error}.") from error
    return value


def _refuse(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def _pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in texts]
    if wrong := [text for text, (name, equals, _) in zip(texts, pairs, strict=True) if not name or not equals]:
        raise click.UsageError(f"{option} {wrong[0]!r}: write NAME=VALUE.")
    return [(name, value) for name, _, value in pairs]


def _keys(texts: Sequence[str], effects: Sequence[str]) -> dict[str, str]:
    from resumption.planes.drill.settings import short_name

    pairs = _pairs(texts, "--key")
    if strange := [name for name, _ in pairs if name not in effects]:
        raise click.UsageError(f"--key {strange[0]}: that is no --effect.")
    return {short_name(name, tuple(effects)): argument for name, argument in pairs}
