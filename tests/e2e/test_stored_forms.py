"""The forms of stored documents are those that `make wire` has recorded."""

from tests.support.wire import FOLDER, first_difference, stored_forms


def test_documents_are_stored_with_the_recorded_fields() -> None:
    difference = first_difference((FOLDER / "stored.json").read_text(), stored_forms())
    assert difference == ""
