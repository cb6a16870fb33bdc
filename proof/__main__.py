"""`python -m proof`: prove the decision core as it ships, and print what was shown.

Exits with 1 if anything fails: an obligation, a certificate that isn't refuted, a mutant that survives, a value on
which CPython and the translation differ.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import resumption.decide
from proof.certificates import CERTIFICATES, with_rule
from proof.checking import check, demanded
from proof.differential import disagreements
from proof.inductive import Core, inductive, refinement
from proof.lockstep import Discrepancy, walk
from proof.mutation import mutate
from proof.order import order_sensitive, reorderings
from proof.spec import Obligation
from proof.specs import SPECS
from proof.symbolic import Module
from proof.translate import translate, translate_file
from resumption.harness.workspace import workspace_folder
from resumption.model.semantics import Bounds

_FOLDER = Path(resumption.decide.__file__).parent
_CORE = ("branch", "claim", "commit", "recover", "view")


@dataclass(slots=True)
class Stage:
    """One row of the summary: what was shown, how much of it, and what failed."""

    name: str
    figures: str = ""
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def ask(self, obligations: list[Obligation]) -> None:
        """Put obligations to both solvers."""
        self.failures += [str(failure) for o in obligations if (failure := check(o, second_opinion=True))]
        self.figures = f"{len(obligations)} obligations, z3 and cvc5"


def main(arguments: list[str] | None = None) -> int:
    """Run all stages, or one that is named, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m proof", description="Prove the decision core as it ships.")
    parser.add_argument("--only", choices=[*_STAGES], help="run one stage")
    only = parser.parse_args(arguments).only
    stages = []
    for name, run in _STAGES.items():
        if only in (None, name):
            stage = Stage(name)
            begun = time.monotonic()
            run(stage)
            stage.seconds = time.monotonic() - begun
            stages.append(stage)
            _print(stage)
    return 1 if any(stage.failures for stage in stages) else 0


def _print(stage: Stage) -> None:
    verdict = "failed" if stage.failures else "ok"
    sys.stdout.write(f"{stage.name:<14} {verdict:<7} {stage.seconds:6.1f} s  {stage.figures}\n")
    for failure in stage.failures:
        sys.stdout.write(f"    {failure}\n")
    sys.stdout.flush()


def _source(name: str) -> str:
    return (_FOLDER / f"{name}.py").read_text(encoding="utf-8")


def _core(**replaced: Module) -> Core:
    return Core(**{name: replaced.get(name) or translate(_source(name)) for name in _CORE})


def _functions(stage: Stage) -> None:
    """Every file of the package is translated, and meets what is demanded of it."""
    files = {path.stem for path in _FOLDER.glob("*.py")} - {"__init__"}
    stage.failures += [f"{name}: is both a file and a spec" for name in sorted(files ^ set(SPECS))]
    found: list[Obligation] = []
    functions = 0
    for name in sorted(files & set(SPECS)):
        module = translate_file(_FOLDER / f"{name}.py")
        functions += len(module.functions)
        found += demanded(module, SPECS[name])
    stage.ask(found)
    stage.figures = f"{len(files)} files, {functions} functions, {stage.figures}"


def _order(stage: Stage) -> None:
    """Recovery answers alike for every order of the log."""
    stage.ask([*reorderings(translate(_source("recover"))), order_sensitive()])


def _induction(stage: Stage) -> None:
    """The shipped decisions keep the contract's invariant, for all constants."""
    stage.ask(list(inductive(_core())))


def _refinement(stage: Stage) -> None:
    """The shipped decisions do what the model's actions do."""
    stage.ask(list(refinement(_core())))


def _certificates(stage: Stage) -> None:
    """Rules known to be wrong break the obligations that they should, and no other."""
    for certificate in CERTIFICATES:
        wrong = translate(with_rule(_source(certificate.module), certificate))
        core = _core(**{certificate.module: wrong})
        broken = {o.name for o in inductive(core) if check(o, second_opinion=False)}
        if broken != certificate.breaks:
            stage.failures.append(f"to {certificate.rule} breaks {sorted(broken)}, not {sorted(certificate.breaks)}")
    stage.figures = f"{len(CERTIFICATES)} wrong rules refuted, exactly where they should be"


def _lockstep(stage: Stage) -> None:
    """The reference plane, which decides by these functions, walks through the model's states."""
    for bounds in (Bounds(), Bounds(tasks=4, gate=2, values=2, resumes=3, crashes=2, extras=1)):
        with workspace_folder() as folder:
            try:
                found = walk(bounds, Path(folder) / "plane")
            except Discrepancy as discrepancy:
                stage.failures.append(str(discrepancy))
                continue
        if found.implementation_states != found.model_states:
            stage.failures.append(f"{bounds}: {found}")
        stage.figures += f"{found.implementation_states} states, {found.transitions + found.refusals} actions; "


def _mutation(stage: Stage) -> None:
    """Every mutant of the shipped files is caught."""
    refuted = rejected = total = 0
    for name, specs in SPECS.items():
        mutated = mutate(_source(name), specs)
        refuted, rejected, total = refuted + mutated.refuted, rejected + mutated.rejected, total + mutated.total
        stage.failures += [f"{name}: unmutated: {why}" for why in mutated.unmutated]
        stage.failures += [f"{name}: crashed: {why}" for why in mutated.crashed]
        stage.failures += [f"{name}: survived: {mutant}" for mutant in mutated.survived]
    stage.figures = f"{total} mutants: {refuted} refuted, {rejected} rejected as ill-typed"


def _differential(stage: Stage) -> None:
    """The translation gives CPython's values."""
    calls = 0
    for name in SPECS:
        shipped = importlib.import_module(f"resumption.decide.{name}")
        made, differ = disagreements(translate(_source(name)), shipped, calls=300, seed=1)
        calls += made
        stage.failures += differ
    stage.figures = f"{calls} calls, CPython {sys.version.split()[0]}"


_STAGES: dict[str, Callable[[Stage], None]] = {
    "functions": _functions,
    "order": _order,
    "induction": _induction,
    "refinement": _refinement,
    "certificates": _certificates,
    "differential": _differential,
    "lockstep": _lockstep,
    "mutation": _mutation,
}

if __name__ == "__main__":
    sys.exit(main())
