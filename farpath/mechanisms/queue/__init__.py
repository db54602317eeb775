"""Queue: a mechanism."""
