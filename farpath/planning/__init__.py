"""Planning: turns options and TOML files into a plan; pure, starts no lab."""
