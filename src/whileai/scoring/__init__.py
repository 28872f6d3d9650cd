"""Prompts and completions in, judged rows out: `wai.rows`, `wai.grade` and the clocks over every verdict."""
