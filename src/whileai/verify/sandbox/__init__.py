"""Running code that nobody has read: isolation by what the machine offers, limits, and a verdict that cannot be forged.

`levels` says which isolation works here, `cell` runs one job in it. The other modules run inside.
"""
