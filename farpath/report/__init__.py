"""Reports of results: tables, figures, pages and sites."""
