"""Figures: one run over time, and the paper's figures 1 to 5."""
