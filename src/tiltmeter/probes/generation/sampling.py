"""How texts are asked for: so many samples of a prompt, each an answer of its own."""

from __future__ import annotations

import dataclasses

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Prompt, Question
from tiltmeter.probes.kind import Replies

#: Caveats, said with every reading of written text.
OF_TEXTS = (
    "It reads what the model wrote at this temperature and for these prompts: other prompts, a system message or "
    "another temperature can give a different result.",
    "If such texts reach people, members of one group could be described, advised or turned away differently from "
    "others for no reason but their group.",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    """How often a prompt is answered, and how."""

    samples: int = 1
    temperature: float = 1.0
    max_tokens: int = 48

    def __post_init__(self) -> None:
        if not isinstance(self.samples, int) or isinstance(self.samples, bool) or self.samples < 1:
            raise BadInput(f"samples must be a whole number of at least 1, not {self.samples!r}")
        Prompt("checked", temperature=self.temperature, max_tokens=self.max_tokens)

    def prompts(self, text: str) -> list[Prompt]:
        """One prompt per sample: each is stored by itself, and more samples later cost only the new ones.

        >>> [prompt.seed for prompt in Sampling(samples=2).prompts("The nurse")]
        [0, 1]
        """
        options = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return [Prompt(text, seed=seed, **options) for seed in range(self.samples)]  # type: ignore[arg-type]


def written_texts(replies: Replies) -> dict[Prompt, str]:
    """What the model wrote to each prompt."""
    answers = zip(replies.asked(Question.GENERATE), replies.all(Question.GENERATE), strict=True)
    return {prompt: answer.texts[0] for prompt, answer in answers}
