"""The answer of a turn so far: read from its state, and emitted again when a run is resumed."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.events import (
    AnalysisChunk,
    ChartChunk,
    Chunk,
    ClaimsChunk,
    ClarificationChunk,
    ResultsChunk,
    SqlChunk,
    SuggestionsChunk,
)
from graph.state import Analysis, Option, Route, Rows, SessionState


@dataclass(frozen=True)
class Answer:
    """The parts of an answer. A part is None when its step has not completed or returned nothing.

    `results` holds the head of the rows that this turn fetched.
    """

    route: Route = "sql"
    sql: str | None = None
    dialect: str = ""
    explanation: str = ""
    standalone_question: str = ""
    corrections: Sequence[str] = ()
    results: Rows | None = None
    results_summary: str | None = None
    analysis: Analysis | None = None
    reply: str | None = None
    summary: str | None = None
    """Summary of the conversation's older exchanges, after the turn's last completed step."""
    options: Sequence[Option] = ()
    tokens_used: int = 0

    def chunks(self) -> list[Chunk]:
        """Returns the chunks of the answer, in the order in which a run emits them."""
        chunks: list[Chunk] = []
        if self.sql is not None:
            chunks.append(
                SqlChunk(
                    content=self.sql,
                    dialect=self.dialect,
                    explanation=self.explanation,
                    standalone_question=self.standalone_question,
                    corrections=list(self.corrections),
                )
            )
        if self.results is not None:
            chunks.append(ResultsChunk(content=self.results))
        if self.analysis is not None:
            chunks.extend(analysis_chunks(self.analysis))
        if self.reply is not None:
            chunks.append(reply_chunk(self.route, self.reply, self.options))
        return chunks


def analysis_chunks(analysis: Analysis) -> list[Chunk]:
    """Returns the chunk of the text, then those of its claims, the chart and the suggestions if any."""
    chunks: list[Chunk] = [AnalysisChunk(content=analysis["text"])]
    if analysis["claims"]:
        chunks.append(ClaimsChunk(content=analysis["claims"]))
    if analysis["chart"] is not None:
        chunks.append(ChartChunk(content=analysis["chart"]))
    if analysis["suggestions"]:
        chunks.append(SuggestionsChunk(content=analysis["suggestions"]))
    return chunks


def sql_chunk(state: SessionState) -> SqlChunk:
    """The statement being tried, with how the question was understood."""
    return SqlChunk(
        content=state["draft_sql"] or "",
        dialect=state["dialect"],
        explanation=state["explanation"],
        standalone_question=state["standalone_question"],
        corrections=state["corrections"],
    )


def reply_chunk(route: Route, text: str, options: Sequence[Option]) -> Chunk:
    """Returns the chunk of a question back to the user with its options, or of small talk."""
    if route == "clarify":
        return ClarificationChunk(content=text, options=list(options))
    return AnalysisChunk(content=text)


def answer_of(state: SessionState) -> Answer:
    """Returns the answer of the turn's completed steps, derived from the state alone.

    LangGraph's list of next steps cannot be used: between a step's writes and its checkpoint it is empty.
    """
    queried = state["route"] == "sql"
    exchanges = state.get("messages", [])
    repair = state["repair"]
    answered = bool(exchanges) and exchanges[-1]["id"] == state["message_id"]
    analysed = answered and state["route"] in ("sql", "rows")
    sql = state["draft_sql"]
    corrections = state.get("corrections", [])
    failed = repair is not None and repair["cause"] == "error" and repair["sql"] == sql
    if repair is not None and repair["cause"] == "warnings":
        # The rows at hand are still those of the statement to be repaired.
        sql = repair["sql"]
        corrections = repair["corrections"]
    fetched = queried and state.get("results_message_id") == state["message_id"]
    return Answer(
        route=state["route"],
        sql=sql if queried and not failed else None,
        dialect=state["dialect"],
        explanation=state["explanation"],
        standalone_question=state.get("standalone_question", ""),
        corrections=corrections if queried and not failed else [],
        results=state.get("current_results") if fetched else None,
        results_summary=exchanges[-1]["results_summary"] if analysed else None,
        analysis=state.get("current_analysis") if analysed else None,
        reply=state["reply"] if answered and not analysed else None,
        options=state.get("options", []) if answered and state["route"] == "clarify" else [],
        summary=state.get("summary"),
        tokens_used=state["tokens_used"],
    )
