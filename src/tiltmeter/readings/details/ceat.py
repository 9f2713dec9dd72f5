"""What CEAT tells beyond the pooled effect: draws, contexts, lengths."""

from __future__ import annotations
