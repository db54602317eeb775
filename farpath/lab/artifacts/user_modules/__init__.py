"""A user's kernel module: its sources, adapted to the kernel that they are built for.

Congestion controls are written for one version of Linux, whose interfaces change. ``sources`` finds
the files of a module and writes a copy of them for kbuild; ``adaptation`` is what changes in the
text of one; ``changes`` explains what the compiler says about the rest.
"""
