"""Inside gdb: what gdb's own Python runs, with the standard library, units and errors alone."""
