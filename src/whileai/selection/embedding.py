"""Which texts mean the same by the caller's embedding: cosine over the vectors it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from whileai.errors import ParamError
from whileai.selection.overlap import Match

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Embed = Callable[[list[str]], Any]
#: How many texts one call of `embed` gets at most.
BATCH = 1024


class Embedded:
    """The eval's texts as vectors, to find the nearest one to other texts."""

    def __init__(self, embed: Embed, against: Sequence[str], threshold: float) -> None:
        self.embed, self.threshold = embed, threshold
        self.vectors = _unit_vectors(embed, against)

    def nearest(self, texts: Sequence[str]) -> dict[int, Match]:
        """The texts whose cosine with one of the eval's reaches the threshold, by place, with the nearest one."""
        found = {}
        for start in range(0, len(texts), BATCH):
            vectors = _unit_vectors(self.embed, texts[start : start + BATCH], self.vectors.shape[1])
            cosine = vectors @ self.vectors.T
            best = cosine.argmax(axis=1)
            for place, (column, value) in enumerate(zip(best.tolist(), cosine.max(axis=1).tolist(), strict=True)):
                # rounding must not part a vector from itself at a threshold of 1
                if value >= self.threshold - 1e-12:
                    found[start + place] = Match("embedding", column, min(1.0, value))
        return found


def _unit_vectors(embed: Embed, texts: Sequence[str], width: int | None = None) -> Floats:
    """One vector of length 1 per text, all of `width` numbers."""
    import numpy as np

    parts: list[Floats] = []
    for start in range(0, len(texts), BATCH):
        chunk = texts[start : start + BATCH]
        part = _checked(embed(list(chunk)), len(chunk))
        width = part.shape[1] if width is None else width
        if part.shape[1] != width:
            raise _wrong("vectors of one length", f"{width} and {part.shape[1]} numbers")
        largest = np.abs(part).max(axis=1, keepdims=True)
        if not largest.all():
            raise _wrong("vectors that are not all zero", chunk[int(np.argmin(largest))])
        part = part / largest  # squares of very large or small numbers would leave the range of floats
        parts.append(part / np.linalg.norm(part, axis=1, keepdims=True))
    return np.concatenate(parts)


def _checked(value: Any, n_texts: int) -> Floats:
    """What `embed` returned as an array of finite numbers, one row per text."""
    import numpy as np

    try:
        vectors = np.asarray(value)
        if vectors.dtype.kind not in "biuf":
            vectors = vectors.astype(np.float64) if vectors.dtype.kind == "O" else np.empty(0)
        vectors = vectors.astype(np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or vectors.shape[0] != n_texts or vectors.shape[1] == 0:
        raise _wrong(f"one vector of numbers per text, {n_texts:,} here", _described(value))
    if not np.isfinite(vectors).all():
        raise _wrong("vectors of finite numbers", "NaN or infinity")
    return vectors


def _described(value: Any) -> str:
    """What was returned, in a few words."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"shape {tuple(shape)}"
    return f"{type(value).__name__} of {len(value):,}" if hasattr(value, "__len__") else type(value).__name__


def _wrong(bound: str, got: str) -> ParamError:
    return ParamError.of("decontaminate", "embed", f"a function that returns {bound}", got)
