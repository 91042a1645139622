"""The chunks of an answer, as its steps emit them, and again when a run is resumed or read later."""

from collections.abc import Sequence

from graph.answer import Answer, Findings, Interpretation, Offer, StatementDetails
from graph.events import (
    FINDING_CHUNKS,
    AnalysisChunk,
    Chunk,
    ClarificationChunk,
    ContextChunk,
    HeadlineChunk,
    Memory,
    ResultsChunk,
    SqlChunk,
)
from graph.state import NamedFact, RememberedFact, Rows


def answer_chunks(answer: Answer, head: Rows | None) -> list[Chunk]:
    """Returns the chunks of the answer, in the order in which a run emits them. `head` are its first rows."""
    chunks: list[Chunk] = []
    if answer.sql is not None:
        chunks.append(sql_chunk(answer.sql, answer, answer))
    if answer.context is not None:
        chunks.append(ContextChunk(content=answer.context))
    if head is not None:
        chunks.append(ResultsChunk(content=head))
    if answer.analysis is not None:
        chunks.extend(analysis_chunks(answer.analysis, answer))
    if answer.clarification is not None:
        chunks.append(clarification_chunk(answer.clarification, answer))
    return chunks


def sql_chunk(sql: str, details: StatementDetails, interpretation: Interpretation) -> SqlChunk:
    """Returns the chunk of a statement, with the interpretation of the question."""
    return SqlChunk(
        content=sql,
        **interpretation.model_dump(include=set(Interpretation.model_fields)),
        **details.model_dump(include=set(StatementDetails.model_fields)),
    )


def analysis_chunks(text: str, findings: Findings) -> list[Chunk]:
    """Returns the chunks of the headline, the text, its references and the other findings, if any."""
    found = findings.model_dump(include=set(Findings.model_fields))
    others = [kind(content=found[name]) for name, kind in FINDING_CHUNKS.items() if found[name]]
    first = [each for each in others if isinstance(each, HeadlineChunk)]
    return [*first, AnalysisChunk(content=text), *others[len(first) :]]


def clarification_chunk(text: str, offer: Offer) -> ClarificationChunk:
    """Returns the chunk of a question back to the user, with its options."""
    return ClarificationChunk(content=text, **offer.model_dump(include=set(Offer.model_fields)))


def facts_used(facts: Sequence[RememberedFact]) -> Memory:
    """Returns the event of the facts that the model reads with the question."""
    named = [
        NamedFact(id=each["id"], kind=each["kind"], scope=each["scope"], text=each["text"]) for each in facts
    ]
    return Memory(action="used", facts=named)
