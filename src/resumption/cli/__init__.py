"""The command line: one module for each command, and one way to end when something can't be done."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from resumption import __version__
from resumption.cli.check import check
from resumption.cli.compare import compare
from resumption.cli.explain import explain
from resumption.cli.planes import planes
from resumption.cli.probes import probes
from resumption.cli.sweep import sweep
from resumption.errors import EnvironmentBroken, EnvironmentUnavailable, ResumptionError, WorkerLost
from resumption.harness.policy import ExitCode
from resumption.planes.statements import StatementsUnreadable

__all__ = ["main"]


@dataclass(frozen=True, slots=True)
class _LazyGroup:
    """A group whose module is imported when it is used, so that a missing extra breaks nothing else."""

    help: str
    extra: str


_GROUPS = {
    "model": _LazyGroup("Check the contract's model by machine.", extra="model"),
    "approvals": _LazyGroup("See who decided what on guarded threads, and what was refused.", extra="postgres"),
    "recover": _LazyGroup("Recover guarded threads whose executor is gone.", extra="langgraph"),
    "ledger": _LazyGroup("Look into a ledger of effects, and resolve what is in doubt.", extra="postgres"),
}

_UNMEASURABLE = (EnvironmentBroken, EnvironmentUnavailable, WorkerLost, StatementsUnreadable)
"""The errors after which nothing could be told; all others are a mistake in what was asked for."""


class _Mistake(click.ClickException):
    """What was asked for can't be done; told in one line."""

    exit_code = ExitCode.USAGE


class _Unmeasured(click.ClickException):
    """What was asked for could not be measured here; told in one line."""

    exit_code = ExitCode.INCONCLUSIVE


class _Root(click.Group):
    """The root of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_GROUPS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _GROUPS:
            return super().get_command(ctx, cmd_name)
        try:
            group: click.Command = getattr(import_module(f"resumption.cli.{cmd_name}"), cmd_name)
        except ModuleNotFoundError as error:
            return _needs_extra(cmd_name, error)
        return group

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ResumptionError as error:
            failure = _Unmeasured if isinstance(error, _UNMEASURABLE) else _Mistake
            raise failure(" ".join(str(error).split())) from error
        except KeyboardInterrupt:
            click.echo("Interrupted; nothing is left running.", err=True)
            ctx.exit(ExitCode.INTERRUPTED)


def _needs_extra(name: str, error: ModuleNotFoundError) -> click.Command:
    """A command that stands in for a group whose module can't be imported, and says what to install."""

    def refuse() -> None:
        raise _Mistake(f"`resumption {name}` needs {error.name}: install resumption[{_GROUPS[name].extra}].")

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=refuse, help=_GROUPS[name].help, context_settings=anything)


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="resumption")
def main() -> None:
    """What "resume" means for a workflow framework: measured, judged and explained."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Where the output's encoding lacks a character of a quotation, a stand-in is better than no report.
            stream.reconfigure(errors="replace")


for _command in (check, compare, explain, planes, probes, sweep):
    main.add_command(_command)
