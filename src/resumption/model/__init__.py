"""The contract as a model that machines check: exhaustively at bounds, and by proof for all of them.

Read `semantics` first: it is the contract as a transition system. The other modules by role:

* `variants`, `invariant`: neighbours of that system, and its invariant as a system of its own;
* `search`: the plain checker; `explore`, `packing`, `vectors`, `projection`: the fast one (extra `model`);
* `tlc`: the same runs by TLC, on the TLA+ modules under `spec/` (extra `tlc`, and Java);
* `symbolic`, `induction`, `footprints`, `intent`, `solvers`, `proofs`: for all bounds, by SMT (extra `prove`);
* `catalogue`, `published`, `checking`, `matrix`, `independence`, `results`, `story`: runs by name, what they should
  give, what they gave, and what that means.

Importing this package needs none of the extras.
"""

from resumption.model.catalogue import Run, named_runs
from resumption.model.checking import check
from resumption.model.machine import Machine, Step
from resumption.model.search import Outcome, Violation, eventually_completes, search, survey
from resumption.model.semantics import PROPERTIES, Bounds, Fault, Record, Recovery, State, resume_contract
from resumption.model.story import tell

__all__ = [
    "PROPERTIES",
    "Bounds",
    "Fault",
    "Machine",
    "Outcome",
    "Record",
    "Recovery",
    "Run",
    "State",
    "Step",
    "Violation",
    "check",
    "eventually_completes",
    "named_runs",
    "resume_contract",
    "search",
    "survey",
    "tell",
]
