from __future__ import annotations

from xml.etree import ElementTree

from scripts import draw_house


def test_the_picture_of_the_rooms_is_the_one_that_the_layers_give() -> None:
    assert draw_house.PICTURE.read_text(encoding="utf-8") == draw_house.picture(), "run `make docs`"


def test_every_room_is_drawn_once_with_its_purpose() -> None:
    texts = [text.text for text in ElementTree.fromstring(draw_house.picture()).iter() if text.tag.endswith("text")]
    for room in draw_house.layers():
        assert texts.count(room) == 1
        assert draw_house.purpose(room), f"the room {room} has no docstring"
