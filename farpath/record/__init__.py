"""Records of runs: their samples, their checks and their format on disk."""
