"""Static word vectors: one vector per word, read from a file without loading the rest of it."""

from tiltmeter.models.static.static_vectors import StaticVectors

__all__ = ["StaticVectors"]
