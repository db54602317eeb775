"""The studies around the paper: the measures that each experiment's runs give."""
