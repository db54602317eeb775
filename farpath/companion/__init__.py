"""Companion: what the experiments around the 2005 test measure, beside published and theory.

Each experiment's module is pure: its records in, measures out. ``report`` writes what they
say, ``shown`` finds what notebooks show of them.
"""
