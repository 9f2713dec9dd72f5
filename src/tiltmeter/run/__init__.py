"""Probes put to models: what is asked of whom, one probe, a whole audit, and the suites it runs."""
