"""What of a model's answer the reader sees: units cut, checked, replaced, cited, put back together."""
