"""Scenarios of an agent, played by the published package."""
