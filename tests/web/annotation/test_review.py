"""A draft of a cloze set, row by row: what is accepted, mended, refused."""

from __future__ import annotations

from pathlib import Path

from tests.labelled import draft_file
from tests.web.annotation.client import client_of
from tiltmeter.stimuli.datasets.draft_file import read_draft
from tiltmeter.web.annotation.review import Review, review_app
from tiltmeter.web.security import DashboardSettings


def test_rows_of_a_draft_are_accepted_mended_and_rejected(tmp_path: Path) -> None:
    file = draft_file(tmp_path / "draft.csv", "")
    with client_of(review_app(Review(file), DashboardSettings(tmp_path))) as client:
        rows = read_draft(file)
        assert "8 to decide" in client.get("/").text
        form = {"sentence": rows[0].sentence, **rows[0].contexts}
        assert (
            "1 accepted, 0 rejected, 7 to decide"
            in client.post(f"/rows/{rows[0].id}", data={**form, "decision": "yes"}).text
        )
        client.post(f"/rows/{rows[1].id}", data={"sentence": "", "decision": "no"})
        mended = {**form, "sentence": "The engineer met two women near the bridge designed by {pronoun}"}
        refused = client.post(f"/rows/{rows[2].id}", data={**mended, "decision": "yes"})
        assert refused.status_code == 400
        assert "another word that says a gender" in refused.text
        assert "Accept anyway" in refused.text
        client.post(f"/rows/{rows[2].id}", data={**mended, "decision": "anyway"})
        hopeless = client.post(f"/rows/{rows[3].id}", data={"sentence": "No place", "decision": "anyway"})
        assert "needs {pronoun} once" in hopeless.text
        assert client.post("/rows/nobody", data={**form, "decision": "yes"}).status_code == 404
    assert [row.decision for row in read_draft(file)] == ["yes", "no", "yes", "", "", "", "", ""]
    assert read_draft(file)[1].sentence == rows[1].sentence
    assert read_draft(file)[2].sentence == mended["sentence"]
