"""From options and TOML files to a plan: pure, no lab is touched."""
