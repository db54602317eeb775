"""What dumbbell.py imports."""

ACCESS_MBIT = 960
BOTTLENECK_MBIT = 96
