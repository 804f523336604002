"""The voice API: what workers ask during calls."""
