"""Text as search sees it; what a caller is told is always the original."""
