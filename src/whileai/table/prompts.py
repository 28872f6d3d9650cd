"""The prompt of each task: enough to tell two apart, in eight bytes a task where the texts are elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from whileai.keys import prompt_code

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Prompts:
    """One prompt a task.

    A code stands for a text: the first 60 bits of its SHA-256, which every engine can compute. 0 stands where a task
    has no text, or several: what two shards say of a task then merges to the same in any order.

    Parameters
    ----------
    several : ndarray of bool, shape (T,)
        Tasks under whose id stand different texts.
    texts : sequence of str or None, optional
        The text of each task that has one; hashed only when somebody asks for the codes.
    codes : ndarray of int64, shape (T,), optional
        The codes, where the texts are not at hand.
    """

    def __init__(
        self,
        several: NDArray[np.bool_],
        texts: Sequence[str | None] | None = None,
        codes: NDArray[np.int64] | None = None,
    ) -> None:
        self.several = several
        self._texts = texts
        if codes is not None:
            self.codes = codes

    def __len__(self) -> int:
        return len(self.several)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The code of each task, shape (T,), 0 where it has no text or several."""
        import numpy as np

        texts = self._texts or [None] * len(self)
        codes = np.fromiter((0 if text is None else prompt_code(text) for text in texts), np.int64, len(self))
        codes[self.several] = 0
        return codes

    @property
    def n_several(self) -> int:
        """Tasks with several prompts."""
        return int(self.several.sum())

    def same_texts(self, other: Prompts) -> bool:
        """Whether both hold equal lists of texts, without hashing any."""
        return self._texts is not None and self._texts == other._texts
