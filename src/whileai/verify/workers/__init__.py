"""Processes for work that may not end: a pool over pipes with a clock, and what runs in it."""
