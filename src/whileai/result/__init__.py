"""What a call returns: frozen, read by name or by key, printed from one list of blocks."""
