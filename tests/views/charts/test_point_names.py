from __future__ import annotations

import altair as alt
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.views.charts import point_names
from tiltmeter.views.charts.point_names import Frame, names

POINTS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40, unique=True)


def test_a_frame_has_room_around_its_points_and_places_them_from_the_upper_left():
    frame = Frame.around([(0.0, 0.0), (10.0, 100.0)], 200, 100, room=0.5)
    assert frame == (200, 100, -5.0, 15.0, -50.0, 150.0)
    assert frame.place(5.0, 50.0) == (100.0, 50.0)
    assert frame.place(-5.0, 150.0) == (0.0, 0.0)
    assert frame.moved((5.0, 50.0), 20, 10) == (7.0, 30.0)


def test_what_has_room_is_named_and_a_line_joins_a_name_that_stands_apart():
    frame = Frame(400, 400, 0.0, 1.0, 0.0, 1.0)
    x, y = alt.X("x:Q"), alt.Y("y:Q")
    layers, named = names(["one", "two"], [(0.2, 0.2), (0.8, 0.8)], frame, x, y)
    assert named == 2
    assert {layer.to_dict()["mark"]["type"] for layer in layers} == {"text"}
    crowd = [(0.5 + 0.012 * i, 0.5 + 0.012 * j) for i in range(3) for j in range(3)]
    layers, named = names(["occupation"] * 9, crowd, frame, x, y)
    assert 4 <= named <= 9
    assert {layer.to_dict()["mark"]["type"] for layer in layers} == {"text", "rule"}


@settings(deadline=None, max_examples=25)
@given(POINTS)
def test_no_name_covers_a_point_or_another_name_or_leaves_the_frame(points):
    frame = Frame(300, 300, -0.1, 1.1, -0.1, 1.1)
    layers, named = names(["chemist"] * len(points), points, frame, alt.X("x:Q"), alt.Y("y:Q"))
    boxes = []
    for layer in layers:
        spec = layer.to_dict()
        if spec["mark"]["type"] == "text":
            side = (spec["mark"]["dx"], spec["mark"]["dy"], spec["mark"]["align"])
            for row in next(iter(spec["datasets"].values())):
                place = frame.place(row["x"], row["y"])
                boxes.append((point_names._box("chemist", place, point_names._SIDES.index(side)), place))
    assert len(boxes) == named
    for n, (box, own) in enumerate(boxes):
        assert min(box) >= 0
        assert max(box) <= 300
        assert not any(point_names._overlap(box, other) for m, (other, _) in enumerate(boxes) if m != n)
        for point in points:
            at, down = frame.place(*point)
            assert (at, down) == own or not (box[0] < at < box[2] and box[1] < down < box[3])
