"""The help centre of Bench 1: what is in it, and what is asked of it."""
