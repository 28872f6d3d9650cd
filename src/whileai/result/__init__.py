"""What a call returns: frozen, read by name or by key, printed from one list of blocks."""

from whileai.result.base import Result
from whileai.result.blocks import Block, Headline, Line, Note, Table

__all__ = ["Block", "Headline", "Line", "Note", "Result", "Table"]
