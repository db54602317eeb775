"""What theory says of a stack: response functions and recovery times."""
