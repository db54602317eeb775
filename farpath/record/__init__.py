"""Records of runs: their samples, the checks of these, and their format on disk."""
