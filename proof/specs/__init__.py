"""What is demanded of each file of `resumption.decide`. A file without a spec is an error, not a gap."""

from __future__ import annotations

from collections.abc import Mapping

from proof.spec import Spec
from proof.specs import admit, branch, claim, commit, lease, recover, view

__all__ = ["SPECS"]

SPECS: Mapping[str, tuple[Spec, ...]] = {
    "admit": admit.SPECS,
    "branch": branch.SPECS,
    "claim": claim.SPECS,
    "commit": commit.SPECS,
    "lease": lease.SPECS,
    "recover": recover.SPECS,
    "view": view.SPECS,
}
"""The specs of each module, by the module's name."""
