"""Models: adapters that answer questions about text, and the store of what they answered."""

from tiltmeter.files import cache_folder
from tiltmeter.models.cached import CachedModel
from tiltmeter.models.protocol import Identity, Question, Span
from tiltmeter.models.registry import KINDS, ModelKind, load
from tiltmeter.models.store import VectorStore

__all__ = ["KINDS", "CachedModel", "Identity", "ModelKind", "Question", "Span", "VectorStore", "cache_folder", "load"]
