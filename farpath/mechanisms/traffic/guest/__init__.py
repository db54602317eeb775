"""The programs of short flows, in the guest."""
