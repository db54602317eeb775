"""HTML pages made with Jinja; all texts are escaped."""
