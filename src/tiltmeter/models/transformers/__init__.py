"""Transformers checkpoints and GGUF files as models."""
