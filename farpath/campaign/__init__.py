"""From experiments to many records: what is made, what is missing, and what makes it."""
