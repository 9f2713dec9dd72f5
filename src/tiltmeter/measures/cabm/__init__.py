"""CABM: the composite score of occupations, its weights and its validation."""
