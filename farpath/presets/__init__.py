"""Presets: real programs with a verdict, a folder each: commands, parser, bounds and figure."""
