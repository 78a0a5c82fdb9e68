"""Files to documents, documents to sections and children."""

from .identity import check_doc_id, document_version
from .node_parser import SectionNodeParser
from .readers import LoadedDocuments, load_documents

__all__ = ["LoadedDocuments", "SectionNodeParser", "check_doc_id", "document_version", "load_documents"]
