"""A real service to forward to."""
