"""Mechanisms: things that a run can have besides flows over a path, a folder each."""
