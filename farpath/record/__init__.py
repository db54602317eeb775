"""What a run left: samples, checks of them, and their form on disk."""
