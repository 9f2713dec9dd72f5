"""GloVe on a user's text, with what says a group confined to the last dimensions of the vectors."""
