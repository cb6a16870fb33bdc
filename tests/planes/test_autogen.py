"""AutoGen AgentChat: what its spec says, and, in an environment of its own, the protocols that it is known for."""

from __future__ import annotations

import pytest
from surveyed import assert_consistent, check_random_workloads

from resumption.contract.verdicts import Measured
from resumption.harness.installations import isolated
from resumption.harness.locks import read_recipe
from resumption.harness.probes import PROBES
from resumption.harness.runner import run_suite
from resumption.planes.autogen.spec import SPECS, SWARM
from resumption.planes.interface import Capability


def test_what_is_said_of_the_plane_hangs_together():
    assert_consistent(SPECS, undocumented=frozenset({"saved-state"}))


def test_the_framework_makes_what_the_caller_saves():
    assert SWARM.reason_against(SWARM.backends[0], Capability.OWN_WRITES) == ""


# In an environment of its own ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_random_workload_fires_each_effect_once():
    check_random_workloads(SWARM)


MEASURED = {
    "interrupt/task-before": {"EO": Measured.CONFORMS, "PC": Measured.CONFORMS, "LV": Measured.CONFORMS},
    "crash/spawned": {"EO": Measured.CONFORMS, "PC": Measured.CONFORMS, "LV": Measured.CONFORMS},
    "crash/identical-logs": {"RD": Measured.CONFORMS},
    "fork/two-values": {"FD": Measured.CONFORMS},
    "validity/middle/null-item": {"CV": Measured.CONFORMS},
    "validity/tampered/parked": {"VL": Measured.CONFORMS},
    "consume/while-live": {"CO-c": Measured.CONFORMS},
    "consume/stray-after-completion": {"CO-c": Measured.BREACHES, "CO-e": Measured.BREACHES, "LA": Measured.BREACHES},
    "consume/race-2-processes": {"CO-c": Measured.BREACHES, "CO-e": Measured.BREACHES},
    "address/unknown": {"LA": Measured.CONFORMS},
}
"""What a team does whose caller saves behind each turn: it refuses the invalid, and takes any handoff."""


@pytest.mark.slow
def test_a_team_refuses_what_is_invalid_and_takes_any_handoff():
    probes = [probe for probe in PROBES if probe.address in MEASURED]
    receipt = run_suite([SWARM], probes, jobs=2, installation=isolated(SWARM, read_recipe(SWARM).newest))
    found = {
        (part.probe, cell.property.value): part.measured
        for cell in receipt.cells
        if cell.facet.value == "cell"
        for part in cell.parts
    }
    wanted = {(probe, name): measured for probe, cells in MEASURED.items() for name, measured in cells.items()}
    assert {key: found.get(key) for key in wanted} == wanted
