"""Campaigns: the status of an experiment's runs, and the making of those without records."""
