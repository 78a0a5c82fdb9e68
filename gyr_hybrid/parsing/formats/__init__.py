"""Readers of file formats: each makes Markdown or plain text of a file."""
