"""What kernels take and give, by name. The compiler makes code for each width of number that it meets."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Words, topics, tokens or documents by their numbers, where they begin, and counts that are whole numbers.
Ints: TypeAlias = NDArray[np.integer[Any]]
#: Priors, weights and shares; also counts kept as floats, which are multiplied without a conversion.
Floats: TypeAlias = NDArray[np.floating[Any]]
#: Numbers that some callers keep as whole numbers and others as floats.
Numbers: TypeAlias = Ints | Floats
#: True or False for each of something.
Flags: TypeAlias = NDArray[np.bool_]
#: The state of a random stream (`topoi._machine.rng`), or a row for each of several.
Stream: TypeAlias = NDArray[np.uint64]
#: A hash of each document.
Keys: TypeAlias = NDArray[np.uint64]
#: A whole number: of Python, or an element of an array.
Int: TypeAlias = int | np.integer[Any]
#: A real number that may have the width of a table. Those that are always 64 bits wide are `float`.
Float: TypeAlias = float | np.floating[Any]
#: A number for every word, or one that all of them share: `topoi._machine.jit.of_word` has that of a word.
PerWord: TypeAlias = float | NDArray[np.float64]
