"""What a call returns: frozen, read by name or by key, printed from one list of blocks."""

from whileai.result.base import Reported, Result, noted
from whileai.result.blocks import Block, Headline, Interval, Line, Note, Plot, Table

__all__ = ["Block", "Headline", "Interval", "Line", "Note", "Plot", "Reported", "Result", "Table", "noted"]
