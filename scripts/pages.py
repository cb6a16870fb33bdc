"""Write the pages of the documentation that are made from data: `python scripts/pages.py`, or `make docs`."""

from __future__ import annotations

from pathlib import Path

from resumption.report.contract_page import contract_page

DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Rewrite `docs/contract.md`."""
    (DOCS / "contract.md").write_text(contract_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
