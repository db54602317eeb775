"""Figures of runs, of the paper, of studies and of topologies."""
