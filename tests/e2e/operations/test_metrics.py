"""Numbers at /metrics, after something was done that changes them; and the dashboard that shows them."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import get_args

import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.modules.schedules.model import Outcome
from tests.e2e.operations.conftest import Watched
from tests.e2e.test_approval import agent_session, ask_to_describe, card_of, decide
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.waiting import until

DEPLOY = Path(__file__).parents[3] / "deploy"
OPERATIONS = (DEPLOY.parent / "docs" / "operations.md").read_text()
ONLY_WHERE_SET_UP = {
    "kai_shared_conversation_reads_total",
    "kai_graph_memory_lag_seconds",
    "kai_graph_memory_sent_total",
    "kai_graph_memory_dropped_total",
    "kai_profiles_missed_total",
    "kai_vectors_outdated",
}
REPLY = "Fine.\n```sql\nSELECT count(*) AS n FROM orders\n```"

Numbers = Mapping[str, float]


async def numbers(watched: Watched) -> Numbers:
    """Each sample by its name and labels, as Prometheus writes them."""
    text = await watched.metrics()
    return {
        sample.name + str(dict(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def grown(before: Numbers, after: Numbers, name: str, **labels: str) -> float:
    key = name + str(dict(sorted(labels.items())))
    return after[key] - before.get(key, 0)


async def asked(watched: Watched, shop: str, question: str, **body: str) -> tuple[Numbers, Numbers]:
    """The numbers before and after a question."""
    session = await watched.client.open_session(await watched.client.connect(shop))
    before = await numbers(watched)
    await watched.client.ask(session, question, **body)
    return before, await numbers(watched)


async def test_a_run_is_counted_and_timed_as_a_whole_and_by_step(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    model.say(REPLY, "Four.")
    before, after = await asked(watched, shop, "How many orders?")
    assert grown(before, after, "kai_runs_started_total") == 1
    assert grown(before, after, "kai_runs_ended_total", outcome="complete") == 1
    assert grown(before, after, "kai_run_duration_seconds_count", outcome="complete") == 1
    assert grown(before, after, "kai_run_first_event_seconds_count") == 1
    assert grown(before, after, "kai_run_first_token_seconds_count") == 1
    assert grown(before, after, "kai_run_tokens_total") > 200
    assert after["kai_runs_under_way{}"] == 0
    for step in ("loading_context", "generating_sql", "executing_sql", "analyzing", "saving"):
        assert grown(before, after, "kai_step_duration_seconds_count", step=step) == 1


async def test_calls_of_models_are_counted_with_their_tries_and_tokens(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    model.say(Scripted(status=500), REPLY, "Four.")
    before, after = await asked(watched, shop, "How many orders?")
    call = {"model": "scripted", "operation": "chat"}
    assert grown(before, after, "kai_model_calls_total", **call, outcome="ok") == 2
    assert grown(before, after, "kai_model_retries_total", model="scripted") >= 1  # titles are tried, too
    assert grown(before, after, "kai_model_tokens_total", model="scripted", kind="input") == 200


async def test_a_run_that_fails_is_counted_with_the_kind_of_its_problem(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    before, after = await asked(watched, shop, "mine", sql="DELETE FROM orders")
    assert grown(before, after, "kai_runs_ended_total", outcome="failed") == 1
    assert grown(before, after, "kai_statements_total", dialect="sqlite", outcome="refused") == 1
    assert grown(before, after, "kai_guard_refusals_total", rule="not-a-query") == 1
    assert grown(before, after, "kai_run_errors_total", problem="statement-failed") == 1


async def test_statements_store_operations_and_streams_are_counted(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    model.say(REPLY, "Four.")
    before, after = await asked(watched, shop, "How many orders?")
    assert grown(before, after, "kai_statements_total", dialect="sqlite", outcome="ok") == 1
    assert grown(before, after, "kai_statement_rows_sum", dialect="sqlite") == 1
    operations = {"operation": "query", "outcome": "ok"}
    assert grown(before, after, "kai_store_operation_duration_seconds_count", **operations) > 0
    assert grown(before, after, "kai_stream_events_sent_total") >= 10
    assert after["process_resident_memory_bytes{}"] > 0


async def test_no_label_names_an_owner_a_session_or_a_run(watched: Watched) -> None:
    labels = set(re.findall(r"[{,](\w+)=\"", await watched.metrics()))
    assert labels <= {
        *("method", "route", "status", "le", "outcome", "step", "problem", "model", "operation", "kind"),
        *("dialect", "rule", "reason", "generation", "implementation", "major", "minor", "patchlevel"),
        "version",
    }


async def test_every_metric_of_ours_is_documented_and_no_other(watched: Watched) -> None:
    families = text_string_to_metric_families(await watched.metrics())
    kinds = {family.name: family.type for family in families}
    exported = {
        f"{name}_total" if kind == "counter" else name
        for name, kind in kinds.items()
        if name.startswith("kai_")
    }
    assert set(re.findall(r"\bkai_[a-z_]+[a-z]\b", OPERATIONS)) == exported | ONLY_WHERE_SET_UP


def shown() -> Iterator[str]:
    """Every metric that the dashboard and the alerts name."""
    dashboard = json.loads((DEPLOY / "grafana" / "kai.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    rules = re.findall(r"^ +expr: (.*)$", (DEPLOY / "prometheus-rules.yml").read_text(), re.MULTILINE)
    assert len(expressions) >= 12
    assert len(rules) >= 5
    for expression in [*expressions, *rules]:
        yield from re.findall(r"\b(?:kai|process)_\w+", expression)


async def test_the_dashboard_and_the_alerts_name_only_metrics_that_are_exported(watched: Watched) -> None:
    text = await watched.metrics()
    exported = {
        f"{family.name}{ending}"
        for family in text_string_to_metric_families(text)
        for ending in ("", "_total", "_bucket", "_sum", "_count")
    }
    assert set(shown()) <= exported


async def test_corrections_of_a_models_statement_are_counted_by_kind(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    model.say('```sql\nSELECT name FROM customers WHERE country = "Brazil"\n```', FIRST)
    before, after = await asked(watched, shop, "Who lives in Brazil?")
    assert grown(before, after, "kai_sql_corrections_total", kind="quotes") == 1


async def test_no_counter_has_a_series_of_when_it_was_created(watched: Watched, shop: str) -> None:
    await asked(watched, shop, "How many orders?")
    names = re.findall(r"^(\w+)", await watched.metrics(), re.MULTILINE)
    assert "kai_runs_started_total" in names
    assert [name for name in names if name.endswith("_created")] == []


async def test_calls_that_wait_for_approval_are_counted_while_they_wait(
    watched: Watched, model: ScriptedModel, shop: str
) -> None:
    session = await agent_session(watched.client, shop)
    await ask_to_describe(watched.client, model, session)

    async def waits() -> bool:
        return (await numbers(watched))["kai_approvals_waiting{}"] == 1

    async def waits_no_more() -> bool:
        return (await numbers(watched))["kai_approvals_waiting{}"] == 0

    await until(waits)
    model.say("Then not.")
    assert (await decide(watched.client, session, await card_of(watched.client, session), "deny")).is_success
    await until(waits_no_more)


async def test_refreshes_of_pins_are_counted_by_outcome(watched: Watched, tmp_path: Path) -> None:
    http = watched.client.http
    file = tmp_path / "shop.db"
    execute(file, "CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    session = await watched.client.open_session(await watched.client.connect(f"sqlite:///{file}"))
    answered = await watched.client.ask(session, "How many?", sql="SELECT count(id) AS n FROM orders")
    board = (await http.post("/boards", json={"title": "Weekly"})).json()["id"]
    pinned = {"message_id": answered[-1].data["message_id"]}
    pin = (await http.post(f"/boards/{board}/pins", json=pinned)).json()["id"]
    renamed = "ALTER TABLE orders RENAME COLUMN id TO number"
    for change, outcome in (("INSERT INTO orders VALUES (1)", "current"), (renamed, "failed")):
        execute(file, change)
        before = await numbers(watched)
        assert (await http.post(f"/boards/{board}/pins/{pin}/refresh")).status_code == 202

        async def counted(before: Numbers = before, outcome: str = outcome) -> bool:
            after = await numbers(watched)
            return grown(before, after, "kai_pin_refreshes_total", outcome=outcome) == 1

        await until(counted)


def execute(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(statement)
        connection.commit()


async def test_schedules_have_their_series_an_alert_and_a_panel_before_one_has_failed(
    watched: Watched,
) -> None:
    now = await numbers(watched)
    for outcome in get_args(Outcome):
        assert f"kai_schedule_runs_total{{'outcome': '{outcome}'}}" in now
    assert {"kai_approvals_waiting", "kai_pin_refreshes_total", "kai_schedule_runs_total"} <= {*shown()}
    rules = yaml.safe_load((DEPLOY / "prometheus-rules.yml").read_text())["groups"][0]["rules"]
    (alert,) = [each for each in rules if each["alert"] == "KaiSchedulesFail"]
    assert set(re.findall(r'outcome="(\w+)"', alert["expr"])) == {"failed"}
