"""Conformance: scenarios that the standards state, run, measured and judged."""
