"""Functions for notebooks: the explorer, and the selection of records to show."""
