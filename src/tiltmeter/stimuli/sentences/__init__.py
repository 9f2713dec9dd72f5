"""Sentences with slots: those that ship, one's own files, and the layouts of other projects."""
