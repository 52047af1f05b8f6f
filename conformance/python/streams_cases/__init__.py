"""Responses of models, as sent by their providers."""
