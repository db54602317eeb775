"""iperf3: a program of flows."""
