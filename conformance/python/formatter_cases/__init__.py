"""Conversations that the formatters of the package are asked about."""
