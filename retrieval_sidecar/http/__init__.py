"""What both APIs, the voice's and the management's, read and answer in the same way."""
