"""Files to documents, documents to sections and children."""

from gyr_hybrid.parsing.duplicates import identical_documents, near_identical_documents
from gyr_hybrid.parsing.identity import check_doc_id, document_name, document_version
from gyr_hybrid.parsing.node_parser import SectionNodeParser
from gyr_hybrid.parsing.readers import LoadedDocuments, load_documents

__all__ = [
    "LoadedDocuments",
    "SectionNodeParser",
    "check_doc_id",
    "document_name",
    "document_version",
    "identical_documents",
    "load_documents",
    "near_identical_documents",
]
