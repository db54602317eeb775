"""What runs inside the lab: as first process of its kernel, as root, no one else.

Guest code uses Python's standard library, Mininet, and farpath's rooms ``spec`` and ``tools``.
"""
