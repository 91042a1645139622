"""Spans as a collector receives them."""

from tests.e2e.operations.conftest import Watched
from tests.support.otlp import Collector, Exported
from tests.support.scripted_model import Scripted, ScriptedModel

TRACE = "0af7651916cd43dd8448eb211c80319c"
REPLY = "Fine.\n```sql\nSELECT count(*) AS n FROM orders\n```"


def outcome_of(run_id: str, span: Exported) -> bool:
    return span.name == "run" and span.attributes["kai.run.id"] == run_id


async def test_a_question_is_one_trace_from_the_request_to_the_statement(
    watched: Watched, model: ScriptedModel, shop: str, collector: Collector
) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    model.say(REPLY, "Four.")
    done = (await watched.client.ask(session, "How many orders?"))[-1].data
    run = collector.until(lambda span: outcome_of(done["run_id"], span))
    route = "POST /api/v1/sessions/{session_id}/query/stream"
    collector.until(lambda span: span.trace == run.trace and span.name == route)
    spans = collector.of_trace(run.trace)
    ways = [
        ("run", route),
        ("step loading_context", "run"),
        ("step generating_sql", "run"),
        ("step executing_sql", "run"),
        ("step analyzing", "run"),
        ("query sqlite", "step executing_sql"),
    ]
    for child, parent in ways:
        assert spans[child].parent == spans[parent].id, (child, parent)
    assert spans["chat scripted"].parent in {spans["step generating_sql"].id, spans["step analyzing"].id}
    assert {span.service for span in spans.values()} == {"kai"}


async def test_spans_tell_ids_tokens_rows_and_outcome(
    watched: Watched, model: ScriptedModel, shop: str, collector: Collector
) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    model.say(REPLY, "Four.")
    done = (await watched.client.ask(session, "How many orders?"))[-1].data
    run = collector.until(lambda span: outcome_of(done["run_id"], span))
    attributes = run.attributes
    assert (attributes["kai.session.id"], attributes["kai.run.outcome"], attributes["kai.run.attempt"]) == (
        session,
        "complete",
        "1",
    )
    spans = collector.of_trace(run.trace)
    assert spans["chat scripted"].attributes["gen_ai.usage.input_tokens"] == "100"
    assert spans["query sqlite"].attributes == {
        "db.system.name": "sqlite",
        "db.response.returned_rows": "1",
    }


async def test_a_request_goes_on_with_its_callers_trace(watched: Watched, collector: Collector) -> None:
    await watched.client.http.get("/sessions", headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
    span = collector.until(lambda span: span.trace == TRACE)
    assert (span.name, span.parent) == ("GET /api/v1/sessions", "b7ad6b7169203331")


async def test_a_failed_call_of_a_model_is_a_failed_span_with_its_kind(
    watched: Watched, model: ScriptedModel, shop: str, collector: Collector
) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    model.say(Scripted(status=401))
    done = (await watched.client.ask(session, "How many orders?"))[-1].data
    run = collector.until(lambda span: outcome_of(done["run_id"], span))
    call = collector.of_trace(run.trace)["chat scripted"]
    assert (call.failed, call.attributes["error.type"]) == (True, "ModelRejected")
