"""Embedding APIs: OpenAI, Cohere, Voyage, and servers that speak the OpenAI protocol."""

from tiltmeter.models.api.budget import Budget, Cost, estimate_cost, estimate_tokens
from tiltmeter.models.api.embedder import PROVIDERS, ApiEmbedder

__all__ = ["PROVIDERS", "ApiEmbedder", "Budget", "Cost", "estimate_cost", "estimate_tokens"]
