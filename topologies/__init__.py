"""Topologies: Mininet Topo classes, each built from a path."""
