"""Probes of language models: sentences in versions, and what the model makes of them."""
