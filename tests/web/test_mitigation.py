from __future__ import annotations

from tests.views.mitigated import result


def test_results_of_mitigation_have_a_page(client, folder):
    assert "holds no result" in client.get("/mitigation").text
    result().save(folder / "mitigated")
    page = client.get("/mitigation").text
    assert "Take leace" in page
    assert page.count("<svg") == 2


def test_a_damaged_result_is_a_note_and_no_fault(client, folder):
    (folder / "mitigated").mkdir()
    (folder / "mitigated" / "mitigation.json").write_text("{")
    answer = client.get("/mitigation")
    assert answer.status_code == 200
    assert "broken JSON" in answer.text
    assert str(folder) not in answer.text
