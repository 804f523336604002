"""Other stores on the same vectors, filters and texts. What runs in their environment imports nothing of ours."""
