"""Probes of what a model writes."""
