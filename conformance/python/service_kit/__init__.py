"""A running service for the tests."""
