"""Responses of models, as their providers send them."""
