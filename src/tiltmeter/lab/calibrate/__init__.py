"""What the measures read where the truth is known."""
