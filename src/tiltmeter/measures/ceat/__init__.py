"""CEAT: association of words in context, pooled over draws."""
