"""The studies around the paper: what each experiment's runs measure."""
