"""Studies over models and texts."""
