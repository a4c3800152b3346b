"""What tests of pages in a real browser share; the fixture `visit` is in tests/report/conftest.py."""

from __future__ import annotations

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 740}


def scroll_through(page):
    for section in page.query_selector_all("main > section"):
        if section.is_visible():
            section.scroll_into_view_if_needed()
            page.wait_for_timeout(30)
    for body in page.query_selector_all("main > section:not([hidden]) [id$=-body]"):
        body.wait_for_selector(":scope > *", state="attached")
