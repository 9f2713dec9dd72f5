"""Checkpoints: where they are, what may be read of them, in how many bits and how much memory, with which adapter."""
