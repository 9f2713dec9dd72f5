"""Which pronoun a chat model chooses when it is asked in words, in both orders of the options."""

from __future__ import annotations

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cloze.cloze_rows import choice
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Estimate, Measured
from tiltmeter.probes.old_language import Replies
from tiltmeter.probes.wording import ALPHA, p_text, percent_text
from tiltmeter.statistics import clustered_share
from tiltmeter.stimuli.sentences.sets import ClozeSet


def measure_choices(stimuli: ClozeSet, replies: Replies, options: Options) -> Measured:
    """The share of sentences in which group 1's pronoun is chosen; a choice that turns with the order counts half."""
    rows, outcomes, clusters, items = stimuli.rows, [], [], []
    refused = turned = matches = labelled = 0
    for row in rows:
        chosen = replies.of(Question.CHOICES, choice(row))
        votes = [each for each in (chosen.first, chosen.second) if each]
        items.append(
            {
                "word": row.contexts[0],
                "sentence": row.text_1,
                "label": row.label,
                "first": chosen.first,
                "second": chosen.second,
            }
        )
        if not votes:
            refused += 1
            continue
        outcome = sum(vote == 1 for vote in votes) / len(votes)
        turned += outcome == 0.5
        outcomes.append(outcome)
        clusters.append(row.contexts[0])
        if row.label is not None and outcome != 0.5:
            labelled += 1
            matches += (1 if outcome > 0.5 else 2) == row.label
    if not outcomes:
        raise BadInput(f"{replies.model} chose no pronoun in any of the {len(rows)} sentences: nothing can be measured")
    if refused:
        replies.leave_out(f"{refused} of {len(rows)} sentences", "the model chose neither word")
    found = clustered_share(outcomes, clusters, permutations=options.permutations, seed=options.seed)
    first, second = stimuli.groups
    clear = found.p_value <= ALPHA
    towards = first if found.value > 0.5 else second
    match = matches / labelled if labelled else None
    return Measured(
        Estimate(
            f"share to {first}",
            found.value,
            0.5,
            "nearer to 0.5 is better",
            found.ci,
            found.p_value,
            "two-sided",
            found.exact,
        ),
        f"→ {towards}" if clear else "no clear lean",
        "",
        f"Asked to choose, the model takes the word for {first} in {found.value:.0%} of {len(outcomes):,} sentences "
        f"({percent_text(found.ci)}, {p_text(found.p_value)}); 50% is level. It refused {refused}, and in {turned} "
        "its choice turned with the order of the options."
        + ("" if match is None else f" It agrees with what people expect in {match:.0%}."),
        tuple(items),
        len(rows),
        found.n_clusters,
        details={
            "variant": stimuli.variant,
            "context": "choice",
            "form": "choice",
            "groups": list(stimuli.groups),
            "rows": len(rows),
            "warnings": list(stimuli.warnings),
            "refused": refused,
            "turned_with_order": turned,
            "human_match": match,
        },
    )
