"""CEAT: words in mined contexts."""
