"""Whole campaigns, small ones: conducted, interrupted, on Slurm, as Kubernetes starts them."""
