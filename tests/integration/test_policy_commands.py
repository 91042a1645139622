"""`kai policies` beside a running server: a file is pulled, changed, checked, tried and pushed."""

import json
from pathlib import Path

import httpx
from typer.testing import CliRunner

from app.commands.command_line import app
from tests.support.command_line import kai
from tests.support.server import running_server
from tests.support.shop import make_shop

FILE = """\
# Agreed with sales.
version: VERSION
default: allow
policies:
- name: own country
  tables:
    customers:
      rows:
      - country = {{ user.country }}
      columns:
        email: last4
"""


def test_policies_are_pulled_compared_checked_tried_and_pushed_beside_a_server(tmp_path: Path) -> None:
    path = make_shop(tmp_path / "shop.db")
    file, data = tmp_path / "policies.yaml", tmp_path / "data"
    data.mkdir()

    def run(*arguments: str, code: int = 0, given: str | None = None) -> str:
        done = CliRunner().invoke(app, ["policies", *arguments, "--data-dir", str(data)], input=given)
        assert done.exit_code == code, done.output
        assert done.stderr.count("\n") <= 1
        return done.output

    with running_server(data) as server, httpx.Client(base_url=f"{server.address}/api/v1") as http:
        made = http.post("/database-connections", json={"url": f"sqlite:///{path}", "name": "Shop"})
        where = f"/database-connections/{made.json()['id']}/policies"
        pulled = kai("policies", "pull", str(file), data=data)
        assert "as of version 0" in pulled.stdout
        assert "policies: []" in file.read_text()
        assert "has no policies" in run("push", str(file))

        file.write_text(FILE.replace("VERSION", "1").replace("    customers", "    customer"))
        assert "error: policy 'own country', table 'customer': The latest" in run("check", str(file), code=1)
        assert "The latest scan has no table of this name" in run("push", str(file), code=1)
        file.write_text(FILE.replace("VERSION", "1").replace("default: allow", "default: perhaps"))
        assert "policies.yaml cannot be read as policies: line 3: default" in run("push", str(file), code=1)

        file.write_text(FILE.replace("VERSION", "1"))
        compared = run("diff", str(file), code=1)
        assert "+      - country = {{ user.country }}" in compared
        assert "-policies: []" in compared
        assert "1 policy holds on Shop" in run("push", str(file), "--database", "Shop")
        assert file.read_text() == FILE.replace("VERSION", "2")
        held = http.get(where).json()
        assert (held["version"], held["policies"]["policies"][0]["name"]) == (2, "own country")
        assert "The file says what holds." in run("diff", str(file))
        run("pull", str(file))
        assert file.read_text() == FILE.replace("VERSION", "2")

        anna = {"owner": "anna", "days": 1, "attributes": {"country": "Norway"}}
        http.post("/api-keys", json=anna).raise_for_status()
        statement = tmp_path / "statement.sql"
        statement.write_text("SELECT name, email FROM customers")
        shown = run("test", "--as", "anna", str(statement))
        assert "'Norway'" in shown
        assert "-- Rows limited by: own country" in shown
        tried = json.loads(
            run("test", "--as", "bob", "--attribute", "country=O'Hara", str(statement), "--json")
        )
        assert (tried["attributes"], "'O''Hara'" in tried["sql"]) == ({"country": "O'Hara"}, True)
        assert tried["column_policies"] == ["own country"]
        databases = CliRunner().invoke(app, ["databases", "schemas", "Shop", "--data-dir", str(data)])
        assert (databases.exit_code, "has no schemas" in databases.output) == (0, True), databases.output
        statement.write_text("DELETE FROM customers")
        assert "kai: " in run("test", "--as", "anna", str(statement), code=1)

        http.patch(where, json={"policies": {"default": "deny"}}).raise_for_status()
        assert "Shop was changed after" in run("push", str(file), code=1)
        assert http.get(where).json()["policies"] == {"default": "deny"}
        assert "says something else" in run("pull", str(file), code=1)
        assert "pulled at version 2; the database has 3" in run("diff", str(file), code=1)
        assert "1 policy holds" in run("push", "--force", str(file))
        assert file.read_text() == FILE.replace("VERSION", "4")
        assert "(version 5)" in run("push", "-", given=FILE.replace("VERSION", "4"))
        assert not Path("-").exists()
        run("pull", "--force", str(file))
        assert "Agreed" not in file.read_text()
        assert "version: 5\ndefault: allow" in run("pull")
    assert not list(tmp_path.glob(".*"))
