"""What MPTCP's flows run in the guest."""
