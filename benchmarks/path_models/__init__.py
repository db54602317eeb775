"""The search for the models of published paths."""
