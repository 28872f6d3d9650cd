"""Which rows to train on: groups that carry gradient, best completions, and none that the eval has seen."""
