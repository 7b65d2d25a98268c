"""How Sphinx makes a site of these pages, for `make docs`. What a page loads lies in the site."""

import evenkeel

project = "Evenkeel"
release = version = evenkeel.__version__
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
smartquotes = False
html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]

# Links to headings are GitHub's: pages are read there as well.
myst_heading_anchors = 4
