"""The stacks' published laws, held against the real stacks in the lab."""
