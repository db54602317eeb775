"""Flows: command lines of the tools that send, and parsers of what they print."""
