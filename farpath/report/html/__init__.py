"""HTML: pages by Jinja, everything escaped."""
