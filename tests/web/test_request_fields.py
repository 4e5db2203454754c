"""The fields of what a page sends."""

import pytest

from spl.errors import SettingError
from spl.web.request_fields import RequestFields


def test_rates_are_columns_of_rules_if_they_are_asked_for():
    fields = RequestFields({"columns": ["x", "y"], "inputs": ["u"], "order": 2, "implicit": True})
    assert fields.columns() == ("x", "y", "dx", "dy", "u", "x''", "y''")


def test_fields_of_fields_are_checked_as_well():
    fields = RequestFields({"units": {"target": "m"}})
    assert fields.fields_or_none("known") is None
    assert fields.fields_or_none("units").text("target") == "m"
    with pytest.raises(SettingError, match="`target` must be a list of texts; got 'm'"):
        fields.fields_or_none("units").texts("target")
