"""The `kai` command: help, answers, and every expected error in one line."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.support.command_line import kai, run_main
from tests.support.kai_process import start_kai
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model

KAI = Path(sys.executable).with_name("kai")


def _clean() -> dict[str, str]:
    """The environment without settings of KAI."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}


@pytest.fixture
def scripted() -> Iterator[ScriptedModel]:
    with scripted_model() as model:
        yield model


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT);"
            "INSERT INTO customers (country) VALUES ('Norway'), ('Brazil'), ('Brazil');"
        )
    return path


def test_a_server_starts_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The other tests fork theirs from a process that has imported everything."""
    with subprocess.Popen(
        [KAI, "serve", "--port", "0", "--data-dir", tmp_path],
        env=_clean(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("KAI is ready at "), said
        assert httpx.get(f"{said.split()[-1]}/healthz", timeout=60).status_code == 200
        process.terminate()
        assert process.wait(60) == 0


def test_a_server_without_a_terminal_logs_settings_of_other_versions_and_goes_on(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with (tmp_path / "log").open("w") as log, open(reading) as said:  # noqa: PTH123 - a descriptor
        process = start_kai(
            ["serve", "--port", "0", "--data-dir", str(tmp_path / "data")],
            environment=_clean()
            | {"KAI_NEWER": "1", "KAI_AGENT": '{"newer": {"a": 1}}', "KAI_LLM__NEWER": "x"},
            folder=tmp_path,
            stdout=writing,
            stderr=log.fileno(),
        )
        os.close(writing)
        assert said.readline().startswith("KAI is ready at ")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    errors = [line["message"] for line in lines if line["level"] == "ERROR"]
    for name, message in zip(("KAI_AGENT__NEWER", "KAI_LLM__NEWER", "KAI_NEWER"), errors, strict=True):
        assert message.startswith(f"There is no setting {name}. ")


def test_an_unknown_setting_stops_a_server_on_a_terminal(tmp_path: Path) -> None:
    terminal, of_kai = pty.openpty()
    try:
        stopped = start_kai(
            ["serve", "--port", "0", "--data-dir", str(tmp_path)],
            environment=_clean() | {"KAI_AGENT__MAX_STEP": "1"},
            folder=tmp_path,
            stdout=of_kai,
            stderr=of_kai,
        )
        assert stopped.wait(120) == 2
        said = os.read(terminal, 4_096).decode().strip()
    finally:
        os.close(terminal)
        os.close(of_kai)
    assert said == "kai: There is no setting KAI_AGENT__MAX_STEP. Did you mean KAI_AGENT__MAX_STEPS?"


def test_the_settings_are_checked_by_a_command_that_names_each_problem(tmp_path: Path) -> None:
    wrong = {"KAI_AGENT": '{"newer": 1}', "KAI_PORTS": "8000", "KAI_LIMITS__RESULT_ROWS": "many"}
    checked = kai("check-settings", data=tmp_path, **wrong)
    assert checked.returncode == 2
    lines = checked.stderr.splitlines()
    assert [line.split(" ")[1:6] for line in lines[:2]] == [
        ["There", "is", "no", "setting", "KAI_AGENT__NEWER."],
        ["There", "is", "no", "setting", "KAI_PORTS."],
    ]
    assert lines[2].startswith("kai: KAI_LIMITS__RESULT_ROWS: ")
    assert len(lines) == 3
    right = kai("check-settings", data=tmp_path)
    assert (right.returncode, right.stdout, right.stderr) == (0, "All settings are valid.\n", "")


@pytest.mark.parametrize("module", ["app.commands.command_line", "typer", "app.commands.serve", "langgraph"])
def test_ctrl_c_while_a_command_is_imported_ends_it_without_a_traceback(module: str, tmp_path: Path) -> None:
    program = f"""
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # as at a terminal, whatever started the tests
sys.meta_path.insert(0, Interrupting())
sys.argv = ["kai", "serve", "--port", "0", "--data-dir", {str(tmp_path)!r}]
from app.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], env=_clean(), capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize("room", [1_000, 20_000, 40_000, 80_000])
def test_a_disk_that_is_full_at_the_start_is_said_in_one_line(room: int, tmp_path: Path) -> None:
    arguments = ["serve", "--port", "0", "--data-dir", str(tmp_path)]
    done = run_main(
        "tests.support.full_disk", arguments, folder=tmp_path, seconds=120, variables={"ROOM": str(room)}
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("kai: ")


def test_a_question_is_answered_with_its_sql_rows_and_reading(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "How many customers per country?", "--db", str(shop), data=tmp_path)
    assert asked.returncode == 0, asked.stderr
    for part in ("Understood as", "SELECT", "Brazil has the most customers: 2", "2 of 2 rows"):
        assert part in asked.stdout


def test_a_question_writes_its_chart_and_prints_its_answer_as_json(shop: Path, tmp_path: Path) -> None:
    picture = tmp_path / "chart.svg"
    options = ("--db", str(shop), "--chart", str(picture), "--json")
    asked = kai("ask", "How many customers per country?", *options, data=tmp_path)
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert (answer["status"], answer["row_count"], len(answer["rows"])) == ("complete", 2, 2)
    assert answer["chart"]["data"]["values"]
    assert "owner" not in answer
    assert "Understood as" in asked.stderr
    assert ">Brazil<" in picture.read_text()


def test_a_chart_that_cannot_be_written_is_said_in_one_line(shop: Path, tmp_path: Path) -> None:
    gif = kai("ask", "How many customers?", "--db", str(shop), "--chart", "out.gif", data=tmp_path)
    assert (gif.returncode, gif.stderr) == (2, "kai: --chart writes files that end in .svg or .png.\n")
    path = tmp_path / "none.png"
    none = kai("ask", "How many customers?", "--db", str(shop), "--chart", str(path), data=tmp_path)
    assert (none.returncode, none.stderr) == (1, "kai: The answer has no chart, so none was written.\n")
    assert not path.exists()
    path = tmp_path / "no folder" / "out.png"
    lost = kai(
        "ask", "How many customers per country?", "--db", str(shop), "--chart", str(path), data=tmp_path
    )
    assert_one_line(lost, "cannot be written (no such file or directory)")


def test_a_question_that_is_answered_by_a_question_back_is_no_success(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "How many customers are loyal per region?", "--db", str(shop), data=tmp_path)
    assert (asked.returncode, asked.stderr) == (1, "")
    assert "SELECT" not in asked.stdout


@pytest.mark.parametrize("question", ["", "  \n"])
@pytest.mark.parametrize("command", ["ask", "generate-sql"])
def test_an_empty_question_is_refused(command: str, question: str, shop: Path, tmp_path: Path) -> None:
    asked = kai(command, question, "--db", str(shop), data=tmp_path)
    assert (asked.returncode, asked.stderr) == (2, "kai: The question is empty.\n")


@pytest.mark.parametrize("command", ["ask", "generate-sql"])
def test_a_question_beyond_the_limit_of_the_api_is_refused(command: str, shop: Path, tmp_path: Path) -> None:
    asked = kai(command, "why " * 2_001, "--db", str(shop), data=tmp_path)
    assert (asked.returncode, asked.stderr) == (2, "kai: The question is longer than 8,000 characters.\n")


def test_a_question_that_cannot_be_stored_is_refused(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "bad \udcff byte", "--db", str(shop), data=tmp_path)
    assert asked.returncode == 2
    assert_one_line(asked, "cannot be stored")


def test_a_url_with_a_relative_path_to_no_file_says_how_an_absolute_one_is_written(tmp_path: Path) -> None:
    asked = kai("ask", "How many?", "--db", "duckdb:///tmp/no/such.duckdb", data=tmp_path)
    assert asked.returncode == 1
    assert "four slashes: duckdb:////path/to/file" in asked.stderr


def test_a_folder_that_is_named_as_a_file_is_called_a_folder(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").mkdir()
    asked = kai("ask", "How many?", "--db", str(tmp_path / "sales.csv"), data=tmp_path)
    assert_one_line(asked, "sales.csv is a folder. Name a file in it.")


def test_a_question_about_a_csv_file_is_answered_and_says_what_could_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("id;country\n1;Norway\n2;Brazil\n3;Brazil\nN/A;Chile\n")
    asked = kai(
        "ask", "How many customers per country?", "--db", str(tmp_path / "customers.csv"), data=tmp_path
    )
    assert asked.returncode == 0, asked.stderr
    assert "customers.id: 1 of 4 cells are no integer and became NULL." in asked.stderr
    assert "Brazil has the most customers: 2" in asked.stdout


def test_sql_is_generated_in_each_format(shop: Path, tmp_path: Path) -> None:
    question = ("generate-sql", "How many customers per country?", "--db", str(shop))
    said = kai(*question, "--run", data=tmp_path)
    assert said.returncode == 0, said.stderr
    for part in ("Understood as", "SELECT", "2 of 2 rows"):
        assert part in said.stdout
    alone = kai(*question, "--format", "sql", data=tmp_path)
    with closing(sqlite3.connect(shop)) as connection:
        assert sorted(row[-1] for row in connection.execute(alone.stdout).fetchall()) == [1, 2]
    generated = json.loads(kai(*question, "--format", "json", "--run", data=tmp_path).stdout)
    assert (generated["valid"], generated["rows"]["row_count"]) == (True, 2)
    assert generated["sql"] == alone.stdout.strip()


@pytest.mark.parametrize("output", ["text", "sql", "json"])
def test_a_question_without_sql_ends_with_1_and_names_the_cure(
    shop: Path, tmp_path: Path, output: str
) -> None:
    said = kai("generate-sql", "Why?", "--db", str(shop), "--format", output, data=tmp_path)
    assert (said.returncode, said.stdout) == (1, "")
    assert "OPENAI_API_KEY" in said.stderr


def test_a_document_needs_a_model_and_says_so(shop: Path, tmp_path: Path) -> None:
    said = kai("document", "--db", str(shop), data=tmp_path)
    assert (said.returncode, said.stdout) == (1, "")
    assert "OPENAI_API_KEY" in said.stderr


def test_a_document_is_written_to_a_file_or_said(shop: Path, tmp_path: Path, scripted: ScriptedModel) -> None:
    model = {"KAI_LLM__BASE_URL": scripted.base_url, "KAI_LLM__API_KEY": "sk-x", "KAI_LLM__MODEL": "m"}
    purpose = "customers: A row is a customer."
    scripted.say(purpose, purpose)
    out = tmp_path / "shop.md"
    written = kai("document", "--db", str(shop), "--out", str(out), data=tmp_path, **model)
    assert (written.returncode, written.stdout) == (0, ""), written.stderr
    said = kai("document", "--db", str(shop), data=tmp_path, **model)
    assert said.stdout == out.read_text()
    assert "| `customers` | table | 3 | A row is a customer. |" in said.stdout
    nowhere = kai("document", "--db", str(shop), "--out", "/nowhere/x.md", data=tmp_path, **model)
    assert (nowhere.returncode, nowhere.stderr) == (1, "kai: There is no folder /nowhere.\n")


def test_an_estimate_that_no_terminal_can_accept_ends_with_the_cure(
    tmp_path: Path, scripted: ScriptedModel
) -> None:
    with closing(sqlite3.connect(tmp_path / "many.db")) as made:
        for number in range(21):
            made.execute(f"CREATE TABLE t{number} (id INTEGER)")
    model = {"KAI_LLM__BASE_URL": scripted.base_url, "KAI_LLM__API_KEY": "sk-x", "KAI_LLM__MODEL": "m"}
    said = kai("document", "--db", str(tmp_path / "many.db"), data=tmp_path, **model)
    assert said.returncode == 1
    assert "This documents 21 tables" in said.stderr
    assert "Add --yes to begin." in said.stderr


def test_a_question_leaves_the_store_of_the_server_alone(shop: Path, tmp_path: Path) -> None:
    kept = {"KAI_STORE": "typesense", "KAI_MIGRATE_AT_START": "false"}  # no server, no key: none is needed
    asked = kai("ask", "How many customers?", "--db", str(shop), data=tmp_path, **kept)
    assert asked.returncode == 0, asked.stderr


def test_a_question_beyond_it_fails_with_the_cure(shop: Path, tmp_path: Path) -> None:
    asked = kai("ask", "Why?", "--db", str(shop), data=tmp_path)
    assert asked.returncode == 1
    assert "OPENAI_API_KEY" in asked.stdout


def test_help_names_every_command(tmp_path: Path) -> None:
    shown = kai("--help", data=tmp_path).stdout
    assert all(command in shown for command in ("serve", "demo", "ask", "eval", "eval-compare", "keys"))


NO_TYPESENSE = {
    "KAI_STORE": "typesense",
    "KAI_TYPESENSE__NODES": '["http://127.0.0.1:1"]',
    "KAI_TYPESENSE__API_KEY": "s3cr3t",
    "KAI_TUNING__TYPESENSE__MAX_RETRIES": "0",
}


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (["ask", "x", "--db", "/no/such.db"], {}, "There is no file /no/such.db"),
        (["ask", "x", "--db", "sqlite:////no/such.db"], {}, "There is no file /no/such.db"),
        (["ask", "x", "--db", "/proc"], {}, "/proc is a folder"),
        (["ask", "x", "--db", "/no/such.csv"], {}, "There is no file /no/such.csv"),
        (["ask", "x", "--db", "postgresql://u:s3cr3t@127.0.0.1:1/d"], {}, "cannot be"),
        (["ask", "x", "--db", "oracle://u:s3cr3t@h/d"], {}, "no driver"),
        (["backup", "new"], {}, "--data-dir"),
        (["prune"], {}, "--data-dir"),
        (["keys", "list", "--data-dir", "/proc/nowhere"], {}, "/proc/nowhere"),
        (["restore", "no-such-backup"], {}, "no-such-backup"),
        (["migrate", "--from", "sqlite", "--to", "typesense"], {}, "set KAI_TYPESENSE__API_KEY"),
        (["keys", "list"], NO_TYPESENSE, "KAI_TYPESENSE__NODES"),
        (["eval", "/proc", "--db", "shop.db"], {}, "/proc is a folder"),
        (["api"], {}, "KAI_NATS__URL"),
        (["worker", "--kind", "memory"], {}, "KAI_NATS__URL"),
        (["eval", "no-such.jsonl", "--db", "shop.db"], {}, "no-such.jsonl"),
        (["eval-compare", "no-such.jsonl", "b.jsonl"], {}, "no-such.jsonl"),
        (["serve"], {"KAI_DATA_DIR": "/proc/nowhere"}, "KAI_DATA_DIR"),
        (["serve", "--host", "192.0.2.1"], {}, "KAI_HOST"),
        (["serve", "--host", "0.0.0.0", "--port", "0"], {}, "kai keys create"),
        (["serve", "--port", "0"], {"KAI_AUTH__REQUIRED": "true"}, "kai keys create"),
        (["serve"], {"KAI_STORE": "typesense", "KAI_NATS__URL": "nats://n"}, "KAI_ENCRYPTION_KEY"),
        (["serve", "--host", "no-such.invalid"], {}, "KAI_HOST"),
        (["keys", "create", "--owner", "local"], {}, "choose another name"),
        (["keys", "create", "--owner", "ann", "--scope", "manage"], {}, "the role admin"),
        (["keys", "create", "--owner", "ann", "--scope", "everything"], {}, "'read', 'ask'"),
        (["keys", "revoke", "no-such-key"], {}, "no API key"),
    ],
    ids=str,
)
def test_an_error_is_one_line_that_names_the_cure(
    arguments: list[str], variables: dict[str, str], words: str, tmp_path: Path
) -> None:
    failed = kai(*arguments, data=tmp_path, **variables)
    assert failed.returncode == 1
    assert_one_line(failed, words)


def assert_one_line(failed: subprocess.CompletedProcess[str], words: str) -> None:
    assert failed.stderr.startswith("kai: ")
    assert failed.stderr.count("\n") == 1
    assert words in failed.stderr
    assert "s3cr3t" not in failed.stderr + failed.stdout
    assert "Errno" not in failed.stderr


def test_the_proposed_command_makes_an_encryption_key(tmp_path: Path) -> None:
    failed = kai("keys", "list", data=tmp_path, KAI_ENCRYPTION_KEY="short")
    command = failed.stderr.partition("make one by ")[2].strip()
    key = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout.strip()
    assert kai("keys", "list", data=tmp_path, KAI_ENCRYPTION_KEY=key).returncode == 0


def test_variables_that_kubernetes_sets_for_a_service_are_no_settings(tmp_path: Path) -> None:
    variables = {
        "KAI_SERVICE_HOST": "10.0.0.1",
        "KAI_API_SERVICE_PORT_HTTP": "8000",
        "KAI_REDIS_PORT": "tcp://10.0.0.2:6379",
        "KAI_PORT_8000_TCP_ADDR": "10.0.0.1",
    }
    assert kai("keys", "list", data=tmp_path, **variables).returncode == 0


def test_a_database_without_tables_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    asked = kai("ask", "How many customers?", "--db", "empty.db", data=tmp_path)
    assert asked.returncode == 1
    assert "has no tables" in asked.stdout
    assert "OPENAI_API_KEY" not in asked.stdout


def test_a_misspelt_word_is_read_as_the_one_name_it_can_mean_and_the_answer_says_so(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT)")
        connection.execute("INSERT INTO customers (city) VALUES ('Bath'), ('York'), ('Bath')")
    asked = kai("ask", "how many custoners in Bath", "--db", "shop.db", data=tmp_path)
    assert "KAI read “custoners” as “customers”." in asked.stdout
    assert asked.returncode == 0


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("why do blue customers leave", "Without a language model, KAI answers simple questions in English."),
        ("Wie viele Kunden gibt es in Bath?", "Ohne Sprachmodell liest KAI nur Fragen auf Englisch."),
        ("¿Cuántos clientes hay en Bath?", "Sin un modelo de lenguaje, KAI solo lee preguntas en inglés."),
        ("Combien de clients y a-t-il ?", "Sans modèle de langage, KAI ne lit que les questions en anglais."),
    ],
)
def test_a_declined_question_comes_with_two_that_are_answered(
    question: str, said: str, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT, age INTEGER)")
        connection.execute("INSERT INTO customers (city, age) VALUES ('Bath', 30), ('York', 40)")
    asked = kai("ask", question, "--db", "shop.db", data=tmp_path)
    text = " ".join(asked.stdout.split())
    assert said in text
    assert "blue" not in text.replace(question, "")
    offered = re.findall("“([^”]+)”", text)
    assert len(offered) == 2
    for each in offered:
        answered = kai("ask", each, "--db", "shop.db", data=tmp_path)
        assert answered.returncode == 0, answered.stdout


@pytest.mark.parametrize("command", [["keys", "list"], ["prune"], ["backup", "copy"], ["migrate"]], ids=str)
def test_a_command_finds_the_store_of_the_demo(command: list[str], tmp_path: Path) -> None:
    kai("migrate", "--data-dir", ".kai", data=tmp_path)
    found = kai(*command, data=tmp_path, KAI_DATA_DIR="", HOME=str(tmp_path / "home"))
    assert found.returncode == 0, found.stderr
    assert "Working in .kai" in found.stderr
    assert not (tmp_path / "home").exists()


def test_a_command_names_the_store_of_the_demo_where_there_is_another(tmp_path: Path) -> None:
    for folder in (".kai", "home/.kai"):
        kai("migrate", "--data-dir", folder, data=tmp_path)
    listed = kai("keys", "list", data=tmp_path, KAI_DATA_DIR="", HOME=str(tmp_path / "home"))
    assert f"Working in {tmp_path}/home/.kai" in listed.stderr
    assert "--data-dir .kai" in listed.stderr


def _model_variables(model: ScriptedModel) -> dict[str, str]:
    return {"KAI_LLM__BASE_URL": model.base_url, "KAI_LLM__API_KEY": "sk-x", "KAI_LLM__MODEL": "m"}


def _proposes_a_description(model: ScriptedModel) -> None:
    arguments = json.dumps({"table": "customers", "text": "People who buy."})
    model.say("INVESTIGATE:\n1. Describe it", Scripted(calls=(("describe_table_as", arguments),)))


def test_without_a_terminal_a_call_that_asks_is_shown_and_not_made(
    shop: Path, tmp_path: Path, scripted: ScriptedModel
) -> None:
    _proposes_a_description(scripted)
    asked = kai(
        *("ask", "Describe the customers.", "--mode", "agent", "--db", str(shop)),
        data=tmp_path,
        **_model_variables(scripted),
    )
    assert asked.returncode == 3, asked.stdout + asked.stderr
    for part in ("Replace the description of the table customers", "goes to: database asked"):
        assert part in asked.stdout
    assert "text: People who buy." in asked.stdout
    assert "no terminal to ask" in asked.stderr


@pytest.mark.parametrize(("answers", "status"), [("y\n", "done"), ("n\nNot now.\n", "denied")])
def test_on_a_terminal_a_call_that_asks_is_decided_and_the_turn_goes_on(
    shop: Path, tmp_path: Path, scripted: ScriptedModel, answers: str, status: str
) -> None:
    _proposes_a_description(scripted)
    scripted.say(Scripted(calls=(("finish", json.dumps({"answer": "That was it."})),)))
    terminal, its_end = os.openpty()
    os.write(terminal, answers.encode())
    try:
        asked = run_main(
            "app.cli",
            ["ask", "Describe the customers.", "--mode", "agent", "--db", str(shop)],
            folder=tmp_path,
            seconds=120,
            variables={"KAI_DATA_DIR": str(tmp_path), **_model_variables(scripted)},
            stdin=its_end,
        )
    finally:
        os.close(its_end)
        os.close(terminal)
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert "Approve describe_table_as?" in asked.stderr
    assert "That was it." in asked.stdout
    prompt = scripted.requests[-1].text
    assert ("Not now." in prompt) == (status == "denied")


def test_facts_are_imported_listed_exported_and_forgotten(tmp_path: Path) -> None:
    assert "holds no store" in kai("memory", "list", data=tmp_path).stderr
    kai("keys", "list", data=tmp_path)  # makes the store
    lists = tmp_path / "team.md"
    secret = "- My api_key=sk-proj-abcdefghijkl1234567"
    lists.write_text(f"## Terms\n- Churn means no order for 90 days\n{secret}\n")
    imported = kai("memory", "import", str(lists), data=tmp_path)
    assert "1 new, 0 known already, 0 outdated, 1 refused." in imported.stdout, imported.stderr
    listed = kai("memory", "list", "churn", data=tmp_path).stdout
    assert "Churn means no order for 90 days" in listed
    assert "Nothing like this" in kai("memory", "list", "--owner", "ann", data=tmp_path).stdout
    out = tmp_path / "memory.json"
    kai("memory", "export", "--out", str(out), data=tmp_path)
    (fact,) = json.loads(out.read_text())["facts"]
    assert (
        "0 new, 1 known already, 0 outdated, 0 refused."
        in kai("memory", "import", str(out), data=tmp_path).stdout
    )
    assert kai("memory", "forget", fact["id"], data=tmp_path).returncode == 0
    assert "There is no fact" in kai("memory", "forget", fact["id"], data=tmp_path).stderr
    assert (
        "no export of kai memory export"
        in kai("memory", "import", str(tmp_path / "secret.key"), data=tmp_path).stderr
    )
