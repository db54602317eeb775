"""Commands of the command line beside the run itself, one module each."""
