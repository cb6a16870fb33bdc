"""One page of HTML that holds a whole receipt: it needs no network, and reads without scripts."""

from resumption.report.html.page import html_page

__all__ = ["html_page"]
