"""Probes of words and of sentences that stand for words."""
