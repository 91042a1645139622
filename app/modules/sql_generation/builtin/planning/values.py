"""The conditions on stored values that a question names."""

from collections.abc import Sequence
from dataclasses import replace

from app.modules.sql_generation.builtin.plan import Among, Beyond, PersonNamed, PlanColumn, Unclear
from app.modules.sql_generation.builtin.planning.resolving import Resolver
from app.modules.sql_generation.builtin.question.items import SchemaMention
from app.modules.sql_generation.builtin.question.lexicon import LexiconEntry
from app.modules.sql_generation.builtin.question.reading import HAVING, INCLUDING
from app.modules.sql_generation.builtin.question.readings import offer_meaning
from app.modules.sql_generation.builtin.question.roles import Valued, is_table, is_verb
from app.modules.sql_generation.builtin.question.words import words_of

_UNSTORED = "I do not know where this is stored."
_ACTING = ("by", "do", "does", "did")
_OWNING = ("by", "from", "of", "do", "does", "did", "has", "have", "had")
_GENERIC = frozenset(["name", "title", "label", "description", "type", "code", "value", "kind", "status"])


class ValueResolver(Resolver):
    """Resolves the stored values of a question."""

    def _values(self, base: str) -> list[Among | PersonNamed]:
        """Returns the conditions on stored values. Values of one column are alternatives."""
        values: dict[tuple[PlanColumn, bool], Among] = {}
        names: list[PersonNamed] = []
        meant: dict[str, PlanColumn] = {}
        for valued in self.roles.values:
            link, unseen = self._value(valued, base)
            if link.field is None or link.value is None:
                raise Beyond(_UNSTORED)
            meant[valued.mention.text] = link.field
            if link.surname:
                names.append(PersonNamed((link.field, link.value), link.surname, valued.negated))
                continue
            key = (link.field, valued.negated)
            before = values.get(key, Among(link.field, (), valued.negated, unseen))
            values[key] = replace(before, values=(*before.values, link.value))
        self._combined(base, meant)
        if len(names) > 1:
            raise Beyond("I can look for one person only.")
        return [*values.values(), *names]

    def _combined(self, base: str, meant: dict[str, PlanColumn]) -> None:
        """Raises `Beyond` if the statement would turn "and" into OR, or "or" into AND."""
        if self.roles.compares:
            return
        negated = {valued.mention.text: valued.negated for valued in self.roles.values}
        for first, second, either in self.roles.joined:
            if first not in meant or second not in meant:
                raise Beyond("I cannot combine the values that this question names.")
            apart = meant[first] != meant[second]
            mixed = negated[first] != negated[second]
            several = not apart and self.network.fans_out(base, meant[first].table)
            if (either and (apart or mixed)) or (not either and several and not negated[first]):
                raise Beyond("I cannot combine the values that this question names.")
        fields = [(field, negated[text]) for text, field in meant.items()]
        joined = {text for pair in self.roles.joined for text in pair[:2]}
        for text, field in meant.items():
            if fields.count((field, negated[text])) > 1 and text not in joined:
                raise Beyond(f"I cannot tell how several values of {field} go together here.")

    def _value(self, valued: Valued, base: str) -> tuple[LexiconEntry, bool]:
        """Returns the stored value that is meant, and True if the scan did not find it in that column.

        A column of the table asked about is preferred to one that only a join reaches, even if it does not
        hold the value: "customers from" a city where only an employee lives gives no rows.
        """
        mention = valued.mention
        if not mention.links:
            raise Beyond(_UNSTORED)
        refused: Beyond | None = None
        for near in dict.fromkeys((self._owner(valued, base), base)):
            try:
                return self._value_near(valued, near, base)
            except Beyond as beyond:
                refused = refused or beyond
        raise refused or Beyond(_UNSTORED)

    def _value_near(self, valued: Valued, near: str, base: str) -> tuple[LexiconEntry, bool]:
        mention = valued.mention
        wanted = [link for link in mention.links if link.value is not None]
        names = self.network.name_fields(near)
        others = [link for link in wanted if link.field not in names]
        if (mention.lead in _OWNING or mention.owns) and others and len(others) < len(wanted):
            wanted = others
        if not others and (mention.lead in _ACTING or mention.owns) and near in self._listed():
            raise Beyond(f"The name is that of one of {near} itself; I do not see what belongs to it.")
        if not valued.named:
            self._refuse_ambiguous(mention, wanted, near)
        link = self._pick(replace(mention, links=tuple(wanted)), lambda link: link.value is not None, near)
        own = None if valued.named else self._own_column(near, link)
        if own is not None:
            return replace(link, table=near, field=own, surname=None), True
        self._refuse_far(valued, link, near, base=base)
        return link, False

    def _listed(self) -> set[str]:
        """Returns the tables whose rows are counted or listed."""
        named = [*self.roles.free, *([self.roles.counted] if self.roles.counted else [])]
        return {self.table(mention) for mention in named if is_table(mention)}

    def _refuse_ambiguous(self, mention: SchemaMention, links: Sequence[LexiconEntry], near: str) -> None:
        """Raises `Unclear` if the name is stored in several columns that a row of `near` has one value of."""
        meanings: dict[PlanColumn, LexiconEntry] = {}
        for link in links:
            if link.field is not None and self.network.belongs(near, link.table):
                meanings.setdefault(link.field, link)
        owners = [
            field
            for field in meanings
            if field.table != near and field in self.network.name_fields(field.table)
        ]
        if len(meanings) > 1 and owners:
            readings = [offer_meaning(mention.text, link) for link in meanings.values()]
            names = " or ".join(reading.label for reading in readings)
            raise Unclear(f"Which “{mention.text}” do you mean: {names}?", readings)

    def _owner(self, valued: Valued, base: str) -> str:
        if valued.owner is None:
            return base
        return self.table(valued.owner, base)

    def _own_column(self, table: str, link: LexiconEntry) -> PlanColumn | None:
        if link.field is None or link.table == table:
            return None
        last = words_of(link.field.column)[-1]
        if last in _GENERIC or any(
            one.column == link.field.column for one in self.network.name_fields(link.table)
        ):
            return None
        own = [
            field
            for field in self.network.fields(table)
            if field.type == "text" and words_of(field.column)[-1] == last
        ]
        return own[0] if len(own) == 1 else None

    def _refuse_far(self, valued: Valued, link: LexiconEntry, near: str, *, base: str) -> None:
        """Raises `Beyond` if the value is reached only through tables that the question does not mention."""
        bought = valued.owner is not None and is_verb(valued.owner)
        held = valued.mention.lead in (*HAVING, INCLUDING)
        stored = {one.field for one in valued.mention.links if one.value is not None}
        if valued.named or link.table in self._mentioned(base):
            return
        if (bought or held) and len(stored) == 1:
            return
        path = self.network.path(near, link.table, self.anchors)
        if any(hop.fans_out for hop in path) and not any(
            hop.right in self._mentioned(base) - {near, base} for hop in path
        ):
            raise Beyond(
                f"The question names a value of {link.field}, and does not say how {near} is related to it."
            )

    def _mentioned(self, base: str) -> set[str]:
        mentions = [*self.roles.free, *self.roles.lacking, *(by for _, by, _ in self.roles.compared)]
        grouped = [mention for mention in self.roles.grouped if isinstance(mention, SchemaMention)]
        return {
            self.table(mention, base)
            for mention in (*mentions, *grouped)
            if isinstance(mention, SchemaMention) and is_table(mention)
        }
