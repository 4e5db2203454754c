"""Configuration of Sphinx, which builds the documentation: `make docs`."""

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # for `directives`

project = "spl"
author = "The spl developers"
copyright = "The spl developers"
release = importlib.metadata.version("symbolic-physics-learner")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "directives"]
nitpicky = False  # types of other libraries have no link
exclude_patterns = ["**/_*"]

# Markdown: links to headings
myst_heading_anchors = 3

# Docstrings: single backquotes mean code; members keep the order of the source
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = False

html_theme = "furo"
html_title = "spl, the Symbolic Physics Learner"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#A84A00", "color-brand-content": "#A84A00"},
    "dark_css_variables": {"color-brand-primary": "#F0A36B", "color-brand-content": "#F0A36B"},
}


def keep_first_line(app: Any, kind: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Keep only the first line of a module's docstring; the rest is for readers of the source."""
    if kind == "module":
        del lines[1:]


def setup(app: Any) -> None:
    """Register the filter for docstrings with Sphinx."""
    app.connect("autodoc-process-docstring", keep_first_line)
