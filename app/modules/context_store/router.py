"""Routes of verified examples, glossary and instructions."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Path, Query, Request, status
from pydantic import model_validator

from app.core.storage.listing import Listed
from app.core.storage.port import Condition, Equals
from app.http.callers import MANAGE, READ, Owner
from app.http.entity_tags import located
from app.http.parameters import ChangedQuery, ChangeSort, check_order_of_matches
from app.http.router import Router
from app.http.routes import PageOf, Text
from app.modules.context_store.model import Example, ExampleStatus
from app.modules.context_store.repository import Entries, Entry
from app.modules.context_store.schemas import (
    ExampleBody,
    ExampleChange,
    ExampleMatch,
    ExampleMatches,
    ExampleRunBody,
    ExampleTest,
    InstructionBody,
    InstructionChange,
    NewExample,
    NewInstruction,
    NewTerm,
    StatementsToMatch,
    TermBody,
    TermChange,
)
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.schemas import ResultColumnBody

_TESTED_ROWS = 5

router = Router(tags=["context store"])


async def _store(request: Request) -> ContextStore:
    store: ContextStore = request.app.state.services.context_store
    return store


Store = Annotated[ContextStore, Depends(_store)]
ExampleId = Annotated[str, Path(description="Id of the example.")]
TermId = Annotated[str, Path(description="Id of the term.")]
InstructionId = Annotated[str, Path(description="Id of the instruction.")]


class EntryListQuery(ChangedQuery):
    """Selects entries, and a page of them."""

    sort: ChangeSort = "created_at"

    db_connection_id: Annotated[
        Text | None,
        Query(
            max_length=100,
            description="Only entries of this database connection. Left out: the caller's own entries "
            "of all connections.",
        ),
    ] = None
    q: Annotated[
        Text | None,
        Query(
            max_length=500, description="Only entries that contain all of these words, best matches first."
        ),
    ] = None

    _matches_have_an_order = model_validator(mode="after")(check_order_of_matches)


class ExampleListQuery(EntryListQuery):
    """Selects examples, and a page of them."""

    status: Annotated[ExampleStatus | None, Query(description="Only examples with this status.")] = None

    def conditions(self) -> Sequence[Condition]:
        own = [] if self.status is None else [Equals("status", self.status)]
        return [*super().conditions(), *own]


Wanted = Annotated[EntryListQuery, Query()]


@router.post(
    "/examples",
    summary="Add an example",
    status_code=status.HTTP_201_CREATED,
    dependencies=[MANAGE, located("/examples/{id}")],
)
async def add_example(body: NewExample, owner: Owner, store: Store) -> ExampleBody:
    """Stores a question with the SQL that answers it. Needs scope `manage`; owner of the connection only
    (else 403).

    A verified example is shown to the model with similar questions and answers the same question without a
    model. The SQL of a verified example must pass the guard and name existing tables and columns (else 422
    `example-not-runnable`).
    """
    added = await store.add_example(
        owner, body.db_connection_id, body.question, sql=body.sql, status=body.status
    )
    return (await _bodies(store, [added]))[0]


@router.get("/examples", summary="List examples", dependencies=[READ])
async def list_examples(
    wanted: Annotated[ExampleListQuery, Query()], owner: Owner, store: Store
) -> PageOf[ExampleBody]:
    """Lists the caller's examples, or those of one connection. Needs scope `read`.

    By default oldest first; with `q` the best matches first, at most 250. Only the owner of a connection sees
    examples that are not verified; `status=proposed` lists those that wait for a review.
    """
    found = await _listed(store, store.examples, owner, wanted)
    return wanted.page_of(await _bodies(store, found.items), found)


@router.post("/examples/matches", summary="Find the verified examples of statements", dependencies=[READ])
async def match_examples(body: StatementsToMatch, owner: Owner, store: Store) -> ExampleMatches:
    """Says which of up to a hundred statements, of 65,536 characters together, are the SQL of a verified
    example, apart from their layout. Needs scope `read`. No statement runs. An example with a fault counts as
    none. Answers 404 for a connection that the caller may not use.
    """
    found = await store.matches(owner, body.db_connection_id, body.statements)
    return ExampleMatches(
        items=[
            ExampleMatch.model_validate({**vars(example), "example_id": example.id, "index": index})
            for index, example in found
        ]
    )


@router.get("/examples/{example_id}", summary="Get an example", dependencies=[READ])
async def read_example(example_id: ExampleId, owner: Owner, store: Store) -> ExampleBody:
    """Returns an example of the caller, or a verified one of a shared connection. Needs scope `read`. Any
    other example is unknown (404).
    """
    return (await _bodies(store, [await store.get(store.examples, owner, example_id)]))[0]


@router.patch("/examples/{example_id}", summary="Review or edit an example", dependencies=[MANAGE])
async def change_example(
    example_id: ExampleId, body: ExampleChange, owner: Owner, store: Store
) -> ExampleBody:
    """Changes the fields that the body holds. Needs scope `manage`; owner only (else 403).

    `status` reviews a proposal: `verified` or `rejected`. If the example is verified afterwards, its SQL
    must pass the guard and name existing tables and columns (else 422 `example-not-runnable`).
    """
    changed = await store.change_example(owner, example_id, body.model_dump(exclude_unset=True))
    return (await _bodies(store, [changed]))[0]


@router.post("/examples/{example_id}/test", summary="Run the statement of an example", dependencies=[MANAGE])
async def test_example(
    example_id: ExampleId, body: ExampleTest, owner: Owner, store: Store
) -> ExampleRunBody:
    """Runs the statement of an example read-only, under the guard and limits of all statements, and stores
    nothing. Needs scope `manage`; owner only (else 403). Answers 422 (`statement-failed`, with the reason)
    if it does not run, and 503 (`database-unavailable`).
    """
    tested = await store.test_example(owner, example_id, body.sql)
    return ExampleRunBody(
        columns=[ResultColumnBody(name=each.name, type=each.type) for each in tested.result.columns],
        rows=tested.result.rows[:_TESTED_ROWS],
        row_count=len(tested.result.rows),
        truncated=tested.result.truncated,
        elapsed_ms=tested.elapsed_ms,
    )


@router.delete(
    "/examples/{example_id}",
    summary="Delete an example",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[MANAGE],
)
async def delete_example(example_id: ExampleId, owner: Owner, store: Store) -> None:
    """Deletes an example; later answers no longer use it. Needs scope `manage`; owner only (else 403).
    Answers 404 if it does not exist.
    """
    await store.delete(store.examples, owner, example_id)


@router.post(
    "/glossary",
    summary="Add a glossary term",
    status_code=status.HTTP_201_CREATED,
    dependencies=[MANAGE, located("/glossary/{id}")],
)
async def add_term(body: NewTerm, owner: Owner, store: Store) -> TermBody:
    """Stores a business term with its meaning. Needs scope `manage`; owner of the connection only (else 403).

    The model reads the term when it occurs in a conversation. The `sql` expression is not checked.
    """
    added = await store.add_term(owner, body.db_connection_id, body.term, meaning=body.meaning, sql=body.sql)
    return TermBody.model_validate(added)


@router.get("/glossary", summary="List glossary terms", dependencies=[READ])
async def list_terms(wanted: Wanted, owner: Owner, store: Store) -> PageOf[TermBody]:
    """Lists the caller's terms, or those of one connection. Needs scope `read`.

    By default oldest first; with `q` the best matches first, at most 250.
    """
    found = await _listed(store, store.terms, owner, wanted)
    return wanted.page_of([TermBody.model_validate(each) for each in found.items], found)


@router.get("/glossary/{term_id}", summary="Get a glossary term", dependencies=[READ])
async def read_term(term_id: TermId, owner: Owner, store: Store) -> TermBody:
    """Returns a term of the caller, or of a shared connection. Needs scope `read`. Any other term is
    unknown (404).
    """
    return TermBody.model_validate(await store.get(store.terms, owner, term_id))


@router.patch("/glossary/{term_id}", summary="Edit a glossary term", dependencies=[MANAGE])
async def change_term(term_id: TermId, body: TermChange, owner: Owner, store: Store) -> TermBody:
    """Changes the fields that the body holds; `sql: null` removes the expression. Needs scope `manage`;
    owner only (else 403). Later questions use the new text.
    """
    changed = await store.change_term(owner, term_id, body.model_dump(exclude_unset=True))
    return TermBody.model_validate(changed)


@router.delete(
    "/glossary/{term_id}",
    summary="Delete a glossary term",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[MANAGE],
)
async def delete_term(term_id: TermId, owner: Owner, store: Store) -> None:
    """Deletes a term; later answers no longer use it. Needs scope `manage`; owner only (else 403). Answers
    404 if it does not exist.
    """
    await store.delete(store.terms, owner, term_id)


@router.post(
    "/instructions",
    summary="Add an instruction",
    status_code=status.HTTP_201_CREATED,
    dependencies=[MANAGE, located("/instructions/{id}")],
)
async def add_instruction(body: NewInstruction, owner: Owner, store: Store) -> InstructionBody:
    """Stores a rule that the model follows when it writes SQL. Needs scope `manage`; owner of the connection
    only (else 403).

    A `scope` must name a scanned table (else 422 `scope-unknown`). Answers 503 (`database-unavailable`) if
    the database cannot be scanned for it.
    """
    added = await store.add_instruction(owner, body.db_connection_id, body.text, scope=body.scope)
    return InstructionBody.model_validate(added)


@router.get("/instructions", summary="List instructions", dependencies=[READ])
async def list_instructions(wanted: Wanted, owner: Owner, store: Store) -> PageOf[InstructionBody]:
    """Lists the caller's instructions, or those of one connection. Needs scope `read`.

    By default oldest first; with `q` the best matches first, at most 250.
    """
    found = await _listed(store, store.instructions, owner, wanted)
    return wanted.page_of([InstructionBody.model_validate(each) for each in found.items], found)


@router.get("/instructions/{instruction_id}", summary="Get an instruction", dependencies=[READ])
async def read_instruction(instruction_id: InstructionId, owner: Owner, store: Store) -> InstructionBody:
    """Returns an instruction of the caller, or of a shared connection. Needs scope `read`. Any other
    instruction is unknown (404).
    """
    return InstructionBody.model_validate(await store.get(store.instructions, owner, instruction_id))


@router.patch("/instructions/{instruction_id}", summary="Edit an instruction", dependencies=[MANAGE])
async def change_instruction(
    instruction_id: InstructionId, body: InstructionChange, owner: Owner, store: Store
) -> InstructionBody:
    """Changes the fields that the body holds; `scope: null` extends the rule to the whole database. Needs
    scope `manage`; owner only (else 403). A `scope` must name a scanned table (else 422 `scope-unknown`).
    """
    changes = body.model_dump(exclude_unset=True)
    return InstructionBody.model_validate(await store.change_instruction(owner, instruction_id, changes))


@router.delete(
    "/instructions/{instruction_id}",
    summary="Delete an instruction",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[MANAGE],
)
async def delete_instruction(instruction_id: InstructionId, owner: Owner, store: Store) -> None:
    """Deletes an instruction; later answers no longer follow it. Needs scope `manage`; owner only (else
    403). Answers 404 if it does not exist.
    """
    await store.delete(store.instructions, owner, instruction_id)


async def _bodies(store: ContextStore, examples: Sequence[Example]) -> list[ExampleBody]:
    faults = await store.faults(examples)
    return [
        ExampleBody.model_validate({**vars(each), "fault": fault})
        for each, fault in zip(examples, faults, strict=True)
    ]


async def _listed(
    store: ContextStore, entries: Entries[Entry], owner: str, wanted: EntryListQuery
) -> Listed[Entry]:
    where = await store.listed(entries, owner, wanted.db_connection_id)
    if wanted.q is not None:
        return await entries.search(wanted.q, where, wanted.wanted())
    return await entries.page(where, wanted.wanted())
