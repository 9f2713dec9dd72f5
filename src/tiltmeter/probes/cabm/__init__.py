"""CABM: occupations scored by three features."""
