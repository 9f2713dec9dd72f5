"""Transformers checkpoints and GGUF files as models."""

import warnings

# In a notebook without ipywidgets the bars of other packages warn that they cannot be drawn; ours need none.
warnings.filterwarnings("ignore", message="IProgress not found")
