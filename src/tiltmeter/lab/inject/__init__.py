"""A known bias planted in a real model."""
