"""The benches, in the order in which they are run."""
