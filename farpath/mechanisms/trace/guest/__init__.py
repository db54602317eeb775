"""The program that traces, in the guest."""
