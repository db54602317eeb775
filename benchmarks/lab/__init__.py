"""The benchmark: the performance that the lab reaches, next to its goals.

Nothing here decides whether a test passes, because a machine may be slow or busy. A figure that
this machine cannot measure is None and says what is missing.
"""
