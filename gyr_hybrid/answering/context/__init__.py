"""What the model is shown, and the labels by which it cites it."""
