"""Embedding APIs: OpenAI, Cohere, Voyage, and servers that speak the OpenAI protocol."""

from tiltmeter.models.api.budget import Budget
from tiltmeter.models.api.embedder import PROVIDERS, ApiEmbedder
from tiltmeter.models.api.prices import Estimate, estimate_cost, estimate_tokens

__all__ = ["PROVIDERS", "ApiEmbedder", "Budget", "Estimate", "estimate_cost", "estimate_tokens"]
