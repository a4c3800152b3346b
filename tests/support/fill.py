"""docs/fill.py, which runs the code of pages, as a module: docs/ is no package."""

from __future__ import annotations

import importlib.util

from support.places import ROOT

_spec = importlib.util.spec_from_file_location("fill", ROOT / "docs" / "fill.py")
fill = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fill)
