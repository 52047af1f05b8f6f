"""Runs the scenarios of an agent with the published package."""
