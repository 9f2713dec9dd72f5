"""The command line: a thin layer over the Python surface."""

from tiltmeter.cli.app import main

__all__ = ["main"]
