"""What a lab boots: kernels, root file systems, users' own parts, found or built."""
