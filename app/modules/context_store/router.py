"""Routes of verified examples, glossary and instructions."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from app.core.clock import now_ms
from app.core.storage.port import Condition, Equals
from app.http.callers import MANAGE, READ, Owner
from app.http.problems import PROBLEM_RESPONSES
from app.http.routes import PageOf, PageQuery, Text
from app.modules.context_store.model import ExampleStatus
from app.modules.context_store.repository import Entries, Entry
from app.modules.context_store.schemas import (
    ExampleBody,
    ExampleChange,
    InstructionBody,
    InstructionChange,
    NewExample,
    NewInstruction,
    NewTerm,
    TermBody,
    TermChange,
)
from app.modules.context_store.service import ContextStore

router = APIRouter(tags=["context store"], responses=PROBLEM_RESPONSES)


def _store(request: Request) -> ContextStore:
    store: ContextStore = request.app.state.services.context_store
    return store


Store = Annotated[ContextStore, Depends(_store)]


class EntryListQuery(PageQuery):
    """Which entries, and which page of them; with `q` the best matches come first, else the oldest."""

    db_connection_id: Annotated[Text | None, Query(max_length=100)] = None
    q: Annotated[Text | None, Query(max_length=500, description="Words that all have to occur")] = None

    def conditions(self) -> list[Condition]:
        return []


class ExampleListQuery(EntryListQuery):
    """Which examples; `status=proposed` lists those that wait for a review."""

    status: ExampleStatus | None = None

    def conditions(self) -> list[Condition]:
        return [] if self.status is None else [Equals("status", self.status)]


Wanted = Annotated[EntryListQuery, Query()]


@router.post("/examples", status_code=status.HTTP_201_CREATED, dependencies=[MANAGE])
async def add_example(body: NewExample, owner: Owner, store: Store) -> ExampleBody:
    """Keep a question with its SQL, which has to be what may run on the database."""
    added = await store.add_example(owner, body.db_connection_id, body.question, body.sql, body.status)
    return ExampleBody.model_validate(added)


@router.get("/examples", dependencies=[READ])
async def list_examples(
    wanted: Annotated[ExampleListQuery, Query()], owner: Owner, store: Store
) -> PageOf[ExampleBody]:
    found, next_cursor = await _listed(store, store.examples, owner, wanted)
    return PageOf(items=[ExampleBody.model_validate(each) for each in found], next_cursor=next_cursor)


@router.get("/examples/{example_id}", dependencies=[READ])
async def read_example(example_id: str, owner: Owner, store: Store) -> ExampleBody:
    return ExampleBody.model_validate(await store.get(store.examples, owner, example_id))


@router.patch("/examples/{example_id}", dependencies=[MANAGE])
async def change_example(example_id: str, body: ExampleChange, owner: Owner, store: Store) -> ExampleBody:
    """Verify, reject or reword an example."""
    changed = await store.change_example(owner, example_id, body.model_dump(exclude_unset=True))
    return ExampleBody.model_validate(changed)


@router.delete("/examples/{example_id}", status_code=status.HTTP_204_NO_CONTENT, dependencies=[MANAGE])
async def delete_example(example_id: str, owner: Owner, store: Store) -> None:
    await store.examples.delete(await store.own(store.examples, owner, example_id))


@router.post("/glossary", status_code=status.HTTP_201_CREATED, dependencies=[MANAGE])
async def add_term(body: NewTerm, owner: Owner, store: Store) -> TermBody:
    added = await store.add_term(owner, body.db_connection_id, body.term, body.meaning, body.sql)
    return TermBody.model_validate(added)


@router.get("/glossary", dependencies=[READ])
async def list_terms(wanted: Wanted, owner: Owner, store: Store) -> PageOf[TermBody]:
    found, next_cursor = await _listed(store, store.terms, owner, wanted)
    return PageOf(items=[TermBody.model_validate(each) for each in found], next_cursor=next_cursor)


@router.get("/glossary/{term_id}", dependencies=[READ])
async def read_term(term_id: str, owner: Owner, store: Store) -> TermBody:
    return TermBody.model_validate(await store.get(store.terms, owner, term_id))


@router.patch("/glossary/{term_id}", dependencies=[MANAGE])
async def change_term(term_id: str, body: TermChange, owner: Owner, store: Store) -> TermBody:
    term = await store.own(store.terms, owner, term_id)
    changes = {**body.model_dump(exclude_unset=True), "updated_at": now_ms()}
    return TermBody.model_validate(await store.terms.change(term, changes))


@router.delete("/glossary/{term_id}", status_code=status.HTTP_204_NO_CONTENT, dependencies=[MANAGE])
async def delete_term(term_id: str, owner: Owner, store: Store) -> None:
    await store.terms.delete(await store.own(store.terms, owner, term_id))


@router.post("/instructions", status_code=status.HTTP_201_CREATED, dependencies=[MANAGE])
async def add_instruction(body: NewInstruction, owner: Owner, store: Store) -> InstructionBody:
    added = await store.add_instruction(owner, body.db_connection_id, body.text, body.scope)
    return InstructionBody.model_validate(added)


@router.get("/instructions", dependencies=[READ])
async def list_instructions(wanted: Wanted, owner: Owner, store: Store) -> PageOf[InstructionBody]:
    found, next_cursor = await _listed(store, store.instructions, owner, wanted)
    return PageOf(items=[InstructionBody.model_validate(each) for each in found], next_cursor=next_cursor)


@router.get("/instructions/{instruction_id}", dependencies=[READ])
async def read_instruction(instruction_id: str, owner: Owner, store: Store) -> InstructionBody:
    return InstructionBody.model_validate(await store.get(store.instructions, owner, instruction_id))


@router.patch("/instructions/{instruction_id}", dependencies=[MANAGE])
async def change_instruction(
    instruction_id: str, body: InstructionChange, owner: Owner, store: Store
) -> InstructionBody:
    changes = body.model_dump(exclude_unset=True)
    return InstructionBody.model_validate(await store.change_instruction(owner, instruction_id, changes))


@router.delete(
    "/instructions/{instruction_id}", status_code=status.HTTP_204_NO_CONTENT, dependencies=[MANAGE]
)
async def delete_instruction(instruction_id: str, owner: Owner, store: Store) -> None:
    await store.instructions.delete(await store.own(store.instructions, owner, instruction_id))


async def _listed(
    store: ContextStore, entries: Entries[Entry], owner: str, wanted: EntryListQuery
) -> tuple[list[Entry], str | None]:
    where = [*await store.listed(entries, owner, wanted.db_connection_id), *wanted.conditions()]
    if wanted.q is not None:
        return await entries.search(wanted.q, where, wanted.limit, wanted.cursor)
    return await entries.page(where, wanted.limit, wanted.cursor)
