"""Progress while the suite runs: a bar on a terminal, a line for every tenth of it elsewhere. On standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from resumption.harness.cells import Job
from resumption.harness.runner import Progress

__all__ = ["progress"]

_LINES = 10


@contextmanager
def progress() -> Iterator[Callable[[Progress], None]]:
    """Give the listener that shows progress, and clean up after it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _print_line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(step: Progress) -> None:
            bar.update(task, description=step.job.probe.address, completed=step.done, total=step.total)
            if step.problem:
                bar.console.print(f"{_name(step.job)}: {step.problem}", markup=False)

        yield advance


def _print_line(step: Progress) -> None:
    if step.problem:
        click.echo(f"{_name(step.job)}: {step.problem}", err=True)
    if step.done * _LINES // step.total > (step.done - 1) * _LINES // step.total:
        click.echo(f"{step.done} of {step.total} jobs done", err=True)


def _name(job: Job) -> str:
    form = f" {job.form.name}" if job.form else ""
    return f"{job.spec.name} {job.spec.path} {job.backend.name} {job.probe.address}{form}"
