"""Settings of all tests."""

from hypothesis import settings

# How fast an example runs says nothing here: machines are shared and imports lazy.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
