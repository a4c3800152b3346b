"""Tables and documents to files; see docs/files.md."""

from __future__ import annotations

from topoi.writers._documents import DOCUMENT_FORMATS, write_documents
from topoi.writers._tables import TABLE_FORMATS, write_table

__all__ = ["DOCUMENT_FORMATS", "TABLE_FORMATS", "write_documents", "write_table"]
