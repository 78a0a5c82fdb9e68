"""Whether a sentence stands in the sections that it cites, clause by clause."""
