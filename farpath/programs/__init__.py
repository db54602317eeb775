"""Programs: what a flow runs; each is a folder with all that farpath knows of it."""
