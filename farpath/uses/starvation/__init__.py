"""Starvation: a search for paths on which a flow gets least of its share."""
