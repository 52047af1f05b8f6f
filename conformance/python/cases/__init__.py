"""The questions that are put to the package; nothing here imports it."""
