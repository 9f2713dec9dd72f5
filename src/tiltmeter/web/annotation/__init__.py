"""Pages on which people judge: rows of a draft, and the words that they expect in sentences."""
