"""Files of rows in, dict rows out."""
