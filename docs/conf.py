"""Sphinx's configuration: the pages of this folder, and the API reference from the docstrings.

pip install '.[docs]' && sphinx-build -W -b html docs docs/_build/html
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "extensions")]  # the checkout is documented, not an installed grb_tile

import grb_tile  # noqa: E402  (from the checkout)

project = "grb_tile"
author = "grb_tile contributors"
copyright = author
version = release = grb_tile.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode", "myst_parser", "plain_docstrings", "operator_tables"]
exclude_patterns = ["_build"]
smartquotes = False  # a formula such as A' keeps its mark of transposition

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wrap.css"]
html_title = f"grb_tile {release}"
html_show_copyright = False

myst_heading_anchors = 3

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
maximum_signature_line_length = 100


def links_within_the_site(app, docname, source):
    """A link to a file outside docs/ becomes the file's path, because no page of the site shows it."""
    source[0] = source[0].replace("](../CONTRIBUTING.md", "](contributing.md")
    source[0] = re.sub(r"\[[^\]]+\]\(\.\./([^)#]+)\)", r"`\1`", source[0])


def setup(app):
    """Sphinx's entry point."""
    app.connect("source-read", links_within_the_site)
