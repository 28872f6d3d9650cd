"""The typed row."""
