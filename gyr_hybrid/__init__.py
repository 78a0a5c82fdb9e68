"""Checked, cited answers from Chinese business knowledge bases, on LlamaIndex."""

__version__ = "0.1.0"
