"""Other traffic: a mechanism."""
