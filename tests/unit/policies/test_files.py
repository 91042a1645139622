"""Policies as a file: what is written is read again, and what cannot be read is said by its line."""

import pytest

from app.modules.policies.files import (
    MAX_BYTES,
    NO_LIMITS,
    PolicyFile,
    PolicyFileFault,
    read_policy_file,
    set_version,
    write_policy_file,
)
from app.modules.policies.model import Policies
from tests.support.policy_corpus import POLICIES

WRITTEN = """\
# Who sees what.
version: 7
default: allow
policies:
- name: own region  # as agreed
  roles: [seller]
  tables:
    orders:
      rows:
      - region = {{ user.region }}
    employees:
      columns: {salary: hidden}
"""


def test_what_is_written_is_read_again() -> None:
    corpus = Policies.model_validate_json(POLICIES)
    for policies in (corpus, NO_LIMITS):
        assert read_policy_file(write_policy_file(policies, 3)) == PolicyFile(policies, 3)
    assert read_policy_file(write_policy_file(None, 0)) == PolicyFile(NO_LIMITS, 0)
    file = read_policy_file(WRITTEN)
    assert file.version == 7
    assert file.policies.policies[0].tables["orders"].rows == ["region = {{ user.region }}"]


def test_another_version_changes_one_line() -> None:
    changed = set_version(WRITTEN, 8)
    assert changed == WRITTEN.replace("version: 7", "version: 8")
    assert set_version(WRITTEN.replace("version: 7\n", ""), 8).startswith("version: 8\n# Who")
    assert read_policy_file(set_version("---\ndefault: deny\n", 2)).version == 2
    tricky = WRITTEN.replace("version: 7\n", "").replace("own region", '"own\nversion: 1, region"')
    with pytest.raises(PolicyFileFault, match=r"policies\.0\.name"):
        set_version(tricky, 2)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("default: allow", "default: maybe", "line 3: default: input should be 'allow' or 'deny'"),
        ("default: allow\n", "", "default is missing"),
        ("roles:", "role:", "line 6: there is no field role here; there are name, roles, groups, when"),
        ("version:", "versoin:", "line 2: there is no field versoin here; there are version, default"),
        ("version: 7", "version: seven", "line 2: version is a whole number"),
        ("rows:\n      - region", "rows: region", "line 9: rows is a list of conditions"),
        ("salary: hidden", "salary: gone", "line 12: policies.0.tables.employees.columns.salary: input"),
        ("columns:", "rows: all\n      rows:", "line 13: rows stands there twice, first in line 12"),
        ("- region = {{ user.region }}", "- {{ user.region }} = region", "in double quotes"),
        ("roles: [seller]", "roles: [seller", "line 7: it is no YAML"),
        ("roles: [seller]", "roles: &x [*x]", "line 6: write *x out"),
        ("own region", "!!python/object:os.system x", "line 5: it is no YAML"),
        ("seller", "2024-13-45", "it has a value that is none of YAML"),
        ("Who", "\x07", "a character that YAML does not allow"),
        ("roles: [seller]", "roles: " + "[" * 400_000 + "]" * 400_000, "nested too deeply"),
        ("# Who", "#" * MAX_BYTES, "longer than 1,000,000 bytes"),
    ],
)
def test_what_cannot_be_read_is_said_by_its_line(before: str, after: str, said: str) -> None:
    assert before in WRITTEN
    with pytest.raises(PolicyFileFault) as fault:
        read_policy_file(WRITTEN.replace(before, after, 1))
    assert said in str(fault.value)


def test_a_file_without_fields_is_refused() -> None:
    for text in ("", "# nothing", "- a list", "text"):
        with pytest.raises(PolicyFileFault, match="write default: allow"):
            read_policy_file(text)
