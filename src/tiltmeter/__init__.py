"""tiltmeter measures how far embeddings and language models lean towards a social group."""

__version__ = "0.1.0"
