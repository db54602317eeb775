"""Exec: runs commands of a user on end hosts in the lab, in place of flows."""
