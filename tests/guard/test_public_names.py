"""The package's front door: light until an effect is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import resumption


def test_importing_the_package_loads_nothing_else() -> None:
    program = """
import sys
import resumption
assert not [name for name in sys.modules if name.startswith("resumption.")]
resumption.effect
assert "resumption.guard.effects" in sys.modules
assert not {"psycopg", "pydantic", "click", "opentelemetry"} & set(sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_public_name_is_there_and_documented() -> None:
    for name in resumption.__all__:
        found = getattr(resumption, name)
        assert name == "__version__" or found.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Legder'"):
        resumption.__getattr__("Legder")
