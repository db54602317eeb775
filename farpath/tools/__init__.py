"""Tools: command lines of the programs that the lab runs, and parsers of their output."""
