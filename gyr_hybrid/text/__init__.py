"""Characters to blocks: what a text says, with the place of every character."""
