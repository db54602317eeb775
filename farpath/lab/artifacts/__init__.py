"""Artifacts that a lab boots: kernels, root file systems, users' stacks and images."""
