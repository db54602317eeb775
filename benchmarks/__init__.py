"""What is measured of the lab itself, and the search for the models of published paths."""
