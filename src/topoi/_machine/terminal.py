"""Text from strangers on a terminal: what a terminal would obey is shown, not sent.

Words, labels, names of files and messages may hold escape sequences, which move the cursor, retitle the window, write
to the clipboard or hide what is printed; and marks that turn the direction of what follows, so that it reads as
something else. Files and pipes get the text as it is: other programs want the data.
"""

from __future__ import annotations

import codecs
import io
from typing import Any, BinaryIO

# Control characters (C0) have pictures in Unicode. Line breaks and tabs stay; all else is a replacement character.
_SHOWN: dict[int, int] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


def harmless(text: str) -> str:
    """The text with visible characters in place of those that a terminal obeys."""
    return text.translate(_SHOWN)


class Harmless(io.BufferedIOBase):
    """A binary stream of UTF-8 that a terminal shows: passes on to `stream` what is harmless."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a piece may end within a character

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Write a piece."""
        piece = bytes(data)
        self._stream.write(harmless(self._decoder.decode(piece)).encode("utf-8"))
        return len(piece)

    def flush(self) -> None:
        """Let the terminal have what was written."""
        self._stream.flush()
