"""Characters to blocks and sentences."""
