"""Arrays in, numbers out: what every interval, test and size is computed with. Knows nothing of rows."""
