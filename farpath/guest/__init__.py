"""What runs inside the lab: as first process of its kernel, as root, no one else.

Guest code uses Python's standard library and Mininet alone and shares plain
data types with the host (path, schedule, plan).
"""
