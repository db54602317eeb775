"""The program that captures, in the guest."""
