"""Logs of eval harnesses and trainers -> rows: recognised by content, one format a module."""
