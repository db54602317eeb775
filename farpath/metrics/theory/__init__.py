"""Theory of stacks: response functions and recovery times."""
