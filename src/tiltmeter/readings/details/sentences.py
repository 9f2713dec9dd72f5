"""What the probes of sentences tell beyond the effect: LPBS, pairs, pronouns, StereoSet, unmasking."""

from __future__ import annotations
