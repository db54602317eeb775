"""farpath: real transport stacks over emulated long fat paths, in virtual time."""

__version__ = "0.1.0"
