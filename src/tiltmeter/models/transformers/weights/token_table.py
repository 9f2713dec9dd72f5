"""A table of vectors, one per token, as a model: StaticEmbedding of sentence-transformers, and model2vec's folders.

A text is the mean of its tokens' vectors. So the table stands where the layers of a Transformer stand, and all that
follows (pooling, dense layers, length 1) is the same.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import MissingExtra, ModelFailed

if TYPE_CHECKING:
    from torch import Tensor


def load_token_table(folder: Path, *, called: str) -> tuple[Any, Any]:
    """The tokenizer and the table in a folder."""
    try:
        import torch
        from safetensors.torch import load_file
        from tokenizers import Tokenizer
        from transformers import PreTrainedTokenizerFast as FastTokenizer
    except ImportError as error:
        raise MissingExtra("a table of token vectors", "hf") from error
    try:
        parts = load_file(folder / "model.safetensors")
        backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # A table knows no marks around a text; how much of it is read is the tokenizer's own setting.
        backend.post_processor = None
        longest = (backend.truncation or {}).get("max_length")
        backend.no_truncation()
        backend.no_padding()
        rows = _rows(parts)
        if rows.ndim != 2 or len(rows) < backend.get_vocab_size():
            raise ValueError(f"{backend.get_vocab_size()} tokens for a table of shape {tuple(rows.shape)}")
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelFailed(
            f"cannot load '{called}': no table of token vectors in {folder} ({reason}); fetch it again"
        ) from error
    make: Any = FastTokenizer
    tokenizer = make(tokenizer_object=backend, **({"model_max_length": longest} if longest else {}))

    class TokenTable(torch.nn.Module):
        """The lookup, called as the layers of a Transformer are."""

        base_model_prefix = ""

        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(rows.shape[0], rows.shape[1], _weight=rows.float())
            self.config = SimpleNamespace(
                hidden_size=rows.shape[1], num_hidden_layers=0, vocab_size=len(rows), is_encoder_decoder=False
            )

        def forward(self, input_ids: Tensor, **_: Any) -> Any:
            return SimpleNamespace(last_hidden_state=self.table(input_ids))

    return tokenizer, TokenTable().eval()


def _rows(parts: dict[str, Any]) -> Any:
    """One row per token; model2vec may keep rows that several tokens share, and a weight per token."""
    if "embedding.weight" in parts:
        return parts["embedding.weight"]
    rows = parts["embeddings"]
    if "mapping" in parts:
        rows = rows[parts["mapping"].long()]
    return rows.float() * parts["weights"][:, None] if "weights" in parts else rows
