"""Labs: machines a topology runs on. ``virtual``: a User Mode Linux guest."""
