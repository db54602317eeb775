"""The program that runs inside the lab, as root and as the first process of its namespace.

Guest code uses Python's standard library, Mininet, topologies, and the packages
``farpath.spec`` and ``farpath.tools``.
"""
