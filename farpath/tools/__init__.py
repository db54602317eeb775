"""Command lines of the tools that the lab runs, and parsers of what they print."""
