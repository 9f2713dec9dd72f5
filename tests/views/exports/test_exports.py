from __future__ import annotations

import pytest

from tests.views.exports.audits import AUDIT
from tiltmeter.errors import BadInput
from tiltmeter.views.exports import FORMATS, export


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_gets_the_usual_name_and_the_same_bytes_every_time(format, tmp_path):
    path = export(AUDIT, tmp_path, format=format)
    assert path == tmp_path / FORMATS[format].file
    first = path.read_bytes()
    assert first
    assert export(AUDIT, tmp_path / "other", format=format).read_bytes() == first


def test_an_unknown_format_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match=r"unknown format 'latx': did you mean 'latex'\?"):
        export(AUDIT, tmp_path, format="latx")
