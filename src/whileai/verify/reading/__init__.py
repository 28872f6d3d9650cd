"""What a completion says: its text, its numbers, its letter, its JSON, its code, its final answer."""
