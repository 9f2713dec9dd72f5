"""Measure, mitigate, measure again: what a method removes, what it only hides, and what it costs."""
