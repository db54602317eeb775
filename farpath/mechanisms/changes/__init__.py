"""Changes: a mechanism."""
