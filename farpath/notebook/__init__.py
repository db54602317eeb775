"""What notebooks call: the explorer, and the choice of records to show."""
