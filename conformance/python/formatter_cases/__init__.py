"""Conversations for the formatters of the package."""
