"""Figures: of runs, of the paper, of studies, of topologies."""
