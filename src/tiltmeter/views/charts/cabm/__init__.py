"""The charts of a CABM reading."""
