from __future__ import annotations

from tiltmeter.readings import peers
from tiltmeter.readings.peers import PeerResult, save_peer_results
from tiltmeter.web.shelf import Shelf


def test_results_of_other_tools_have_a_page(client, folder):
    assert "Nothing has been imported" in client.get("/peers").text
    share = PeerResult(
        "lm-evaluation-harness", "0.4.9", "<gpt2>", "crows_pairs_english", "pct_stereotype", 0.63, 0.012, 1677
    )
    save_peer_results([share], folder / "others")
    page = client.get("/peers").text
    assert "&lt;gpt2&gt;" in page
    assert "0.63" in page
    assert "0.012" in page


def test_a_reading_of_the_same_model_and_data_stands_beside(client, folder, monkeypatch):
    entry = Shelf(folder).look().entries[0]
    monkeypatch.setitem(peers._SAME_DATA, "same_words", entry.reading.probe)
    twins = [PeerResult("MTEB", "1", entry.reading.model, task, "x", 0.5) for task in ("same_words", "other_words")]
    save_peer_results(twins, folder / "others")
    page = client.get("/peers").text
    same, other = page[page.index("<td>same_words") :].split("<td>other_words")
    assert f"/readings/{entry.file}" in same
    assert "/readings/" not in other


def test_a_damaged_file_is_a_note_and_no_fault(client, folder):
    (folder / "others").mkdir()
    (folder / "others" / "peers.json").write_text("{")
    answer = client.get("/peers")
    assert answer.status_code == 200
    assert "broken JSON" in answer.text
    assert str(folder) not in answer.text
