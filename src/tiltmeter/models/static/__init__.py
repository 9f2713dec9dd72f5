"""Static word vectors: one vector per word, read from a file without loading the rest of it."""

from tiltmeter.models.static.model import StaticVectors

__all__ = ["StaticVectors"]
