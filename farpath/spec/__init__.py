"""What a run is: plain data that host and guest share, of the standard library only."""
