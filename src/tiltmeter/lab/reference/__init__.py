"""Reference models: tiny models trained on text whose bias is known."""
