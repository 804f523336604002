"""Hypothesis for these tests."""

from hypothesis import settings

# Two busy cores make a slow example, not a slow function.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
