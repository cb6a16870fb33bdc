"""Write the pages of the documentation that are made from data: `python scripts/pages.py`, or `make docs`."""

from __future__ import annotations

from pathlib import Path

from resumption.cli.reference_page import reference_page
from resumption.report.contract_page import contract_page

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {"contract.md": contract_page, "reference/cli.md": reference_page}


def main() -> None:
    """Rewrite each of them."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
