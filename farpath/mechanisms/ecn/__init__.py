"""ECN: a mechanism."""
