"""The formulas of every quantity: of runs, flows, shares, links, and of theory."""
