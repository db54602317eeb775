"""League: every stack beside every other one, on the same paths."""
