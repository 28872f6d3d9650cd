"""The measurements: one call and its Result a file."""
