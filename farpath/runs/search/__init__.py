"""Search over seeds for runs of services that fail, and the smallest schedule of faults of one."""
