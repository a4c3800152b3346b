"""Documents from files: texts or counts, plain or compressed, of many formats; see docs/files.md.

A reader is a module that gives documents one by one. `FORMATS` has them all. A text is cut into words and forgotten
before the next one is read, so memory holds the word numbers and the vocabulary, never the texts.
"""

from __future__ import annotations

from topoi.readers._dataset import Dataset
from topoi.readers._formats import FORMATS, Format, format_of
from topoi.readers._read import parquet_corpus, read_documents
from topoi.readers._seeds import read_seeds

__all__ = ["FORMATS", "Dataset", "Format", "format_of", "parquet_corpus", "read_documents", "read_seeds"]
