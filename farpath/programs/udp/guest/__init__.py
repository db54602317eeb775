"""The program that notes arrivals, in the guest."""
