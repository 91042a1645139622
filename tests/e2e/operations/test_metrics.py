"""Numbers at /metrics, after something was done that changes them; and the dashboard that shows them."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.operations.conftest import Watched
from tests.support.scripted_model import Scripted, ScriptedModel

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
    kinds = {family.name: family.type for family in families if not family.name.endswith("_created")}
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
    model.say('```sql\nSELECT name FROM customers WHERE country = "Brazil"\n```', "Two.")
    before, after = await asked(watched, shop, "Who lives in Brazil?")
    assert grown(before, after, "kai_sql_corrections_total", kind="quotes") == 1
