"""The voice worker: one phone call at a time, answered from the organisation's knowledge."""
