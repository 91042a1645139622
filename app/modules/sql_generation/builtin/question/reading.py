"""A question read from left to right into items: what it mentions and the small words that give it a role."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from app.modules.sql_generation.builtin.periods import read_period, unit_of
from app.modules.sql_generation.builtin.plan import NOT_UNDERSTOOD, AsksForChange, Beyond
from app.modules.sql_generation.builtin.question import items as said
from app.modules.sql_generation.builtin.question.items import QuestionItem, SchemaMention
from app.modules.sql_generation.builtin.question.lexicon import CLOSE, EXACT, Lexicon, LexiconEntry
from app.modules.sql_generation.builtin.question.phrases import (
    LENGTH,
    is_name_of_column,
    read_compared,
    read_days,
    read_negated,
    read_rate,
    read_top_sellers,
    read_worth,
)
from app.modules.sql_generation.builtin.question.rules import (
    GROWTH,
    RELATIONS,
    RULES,
    SIZE,
    first_rule,
)
from app.modules.sql_generation.builtin.question.words import REVENUE, WORDS, Token, tokenise, word_set

LONGEST_QUESTION = 60


class UnknownWord(Beyond):
    """A word of the question means nothing in this database."""

    def __init__(self, token: Token) -> None:
        super().__init__(NOT_UNDERSTOOD)
        self.token = token


POSSESSIVE = word_set("its their his her")
_PEOPLE = word_set("people person persons member members everyone everybody anyone team")
_ASKING_WHETHER = word_set("is are was were do does did have has")
_RELATIVE = word_set("who that which whose with having have has in from")
_PREDICATING = word_set("is are was were came come comes went go goes has have had made belong belongs")
_EVERY = word_set("all every each")
_LISTING = word_set("list which who")
HAVING = word_set("with have has had having contain contains containing")
INCLUDING = "including"
_PASSED_OVER = word_set(WORDS["passed_over"])
_EXCLUDING = word_set(WORDS["excluding"])
_WRITING = word_set("delete drop update insert remove create alter truncate add set erase wipe purge")
_CALCULATING = word_set(WORDS["calculating"])


def read(question: Sequence[Token], lexicon: Lexicon, today: date) -> tuple[QuestionItem, ...]:
    """Returns the items of a question in order.

    Every word is part of an item or known to be meaningless. Raises `Beyond` for any other word, because it
    could change the answer.
    """
    if len(question) > LONGEST_QUESTION:
        raise Beyond("The question is too long for me.")
    raws = [token.raw for token in question]
    if raws[:1] and raws[0] in _ASKING_WHETHER and not _EVERY.isdisjoint(raws):
        raise Beyond("I can list or count rows, not say whether something is so for all of them.")
    return _Reading(question, lexicon, today).items()


class _Reading:
    """One pass over a question."""

    def __init__(self, question: Sequence[Token], lexicon: Lexicon, today: date) -> None:
        self._question = question
        self._lexicon = lexicon
        self._today = today
        self._read: list[QuestionItem] = []
        raws = [token.raw for token in question]
        self._holds_growth = any(link.is_number for link in lexicon.find(tokenise("growth rate"))[1])
        """A column has this name, so that it is no change between two periods."""
        self._sorts = raws[:1] in (["sort"], ["order"], ["arrange"], ["rank"]) and "by" in raws[2:]
        """The question is of the form "sort teachers by age"."""
        self._relations = lexicon.reporting and any(
            isinstance(item, said.Relation | said.Unrelated)
            for at in range(len(raws))
            for item in (first_rule(" ".join(raws[at : at + 12]), RELATIONS) or (0, ()))[1]
        )

    def items(self) -> tuple[QuestionItem, ...]:
        if self._relations and self._question[0].raw in ("is", "was"):
            raise Beyond("I can list who reports to whom, not say whether it is so.")
        at = int(self._sorts)
        while at < len(self._question):
            if self._begins_part(at):
                self._read.append(said.PartBegins())
            length, found = self._next(at)
            self._read += found
            if not length:
                self._pass_over(at)
            at += max(length, 1)
        return tuple(self._read)

    def _begins_part(self, at: int) -> bool:
        """True for the first verb after the whole that a share is of: "what share of orders is open"."""
        kinds = [type(item) for item in self._read]
        if said.PartOfWhole not in kinds or kinds[-1] is said.PartOfWhole or said.PartBegins in kinds:
            return False
        before = self._question[at - 1].raw
        return self._question[at].raw in _PREDICATING and before not in _RELATIVE and self._named

    def _next(self, at: int) -> tuple[int, tuple[QuestionItem, ...]]:
        """Returns the number of tokens from `at` that form the next items, and these items; 0 if unknown."""
        tokens = self._question[at : at + 12]
        if self._costs(at):
            tokens = [replace(tokens[0], raw="price", word="price"), *tokens[1:]]
        if defined := self._defined(tokens, at):
            return defined
        raws = [token.raw for token in tokens]
        if phrase := read_rate(tokens, self._lexicon) or read_days(tokens, self._lexicon):
            return phrase
        rule = self._rule(" ".join(raws))
        length, links = self._lexicon.find(tokens)
        lead = self._lead(at)
        words = tokens[:length]
        last = tokens[length - 1]
        mention = SchemaMention(
            text=" ".join(token.text for token in words),
            links=links,
            lead=lead,
            plural=last.plural,
            owns=bool(words) and last.owns,
        )
        if settled := self._settle(rule, at, (length, (mention,))):
            return settled
        if tokens[0].kind == "quoted" or length > 1:
            return length, (mention,)
        if tokens[0].word == "name" and is_name_of_column(tokens[1:], self._lexicon):
            return 1, ()
        if rule and (tokens[0].kind == "number" or (raws[0] == "between" and self._on_number())):
            return rule
        if period := read_period(raws, self._today):
            compares = not {"vs", "versus"}.isdisjoint(raws[: period[1]])
            return period[1], (said.PeriodMention(period[0]), *([said.SideBySide()] if compares else []))
        is_measured = isinstance(self._last, said.Aggregate)
        if is_measured and (worth := read_worth(tokens, self._lexicon)):
            return worth
        if raws[0] == "amount" and not self._ranks_last and read_worth(tokens, self._lexicon):
            raise Beyond("I cannot tell whether a number of rows or an amount is meant.")
        ends_sort = isinstance(self._last, said.Sort) and not tokens[length:]  # "sort by total"
        if length and (is_measured or ends_sort or self._is_compared(mention, raws[length:])):
            return length, (mention,)
        if not length and (sellers := read_top_sellers(raws, self._lexicon)):
            return sellers
        is_share = rule is not None and rule[1][:1] == (said.PartOfWhole(),)
        if rule and not (is_share and any(link.is_number and link.score >= EXACT for link in links)):
            if lead in POSSESSIVE and _ranks(rule[1]):
                raise Beyond(f"I cannot find the {tokens[0].text} of each of several.")
            return rule
        if compared := read_compared(tokens, self._lexicon):
            return compared
        if length:
            return length, (mention,)
        return self._unnamed(at, tokens, lead)

    def _settle(
        self,
        rule: tuple[int, tuple[QuestionItem, ...]] | None,
        at: int,
        mentioned: tuple[int, tuple[QuestionItem, ...]],
    ) -> tuple[int, tuple[QuestionItem, ...]] | None:
        """Reads relations, growth and new rows, whatever the schema says of the words; None for others."""
        kind = rule[1][0] if rule and rule[1] else None
        if isinstance(kind, said.Relation | said.Unrelated):
            return rule
        if rule and isinstance(kind, said.Growth):
            return rule[0], (replace(kind, today=self._today),)
        if self._question[at].raw == "first" and isinstance(self._last, said.Calendar):
            return 1, (said.NewRows(first=True),)  # by month of their first order
        if rule and isinstance(kind, said.NewRows):
            listed = any(token.raw in _LISTING for token in self._question[:at])
            # with a length it is a state that is called new
            return mentioned if mentioned[0] else (rule[0], (replace(kind, listed=listed),))
        return None

    def _unnamed(self, at: int, tokens: Sequence[Token], lead: str) -> tuple[int, tuple[QuestionItem, ...]]:
        """Reads words that name nothing in the schema."""
        if unit := unit_of(tokens[0].word):
            return 1, (said.Calendar(unit, tokens[0].plural),)
        if tokens[0].word in REVENUE:
            return 1, (said.Revenue(tokens[0].text),)
        if tokens[0].raw in LENGTH and isinstance(self._last, said.Aggregate):
            return 1, (said.Revenue(tokens[0].text, hint=SIZE),)
        if tokens[0].kind == "number":
            if at and self._question[at - 1].kind == "number":
                raise Beyond("I cannot read two numbers beside each other as one.")
            return self._counted(tokens, lead)
        return read_negated(tokens, self._lexicon)

    def _lead(self, at: int) -> str:
        """Returns the word before a position; an article after "including" does not count."""
        before = [token.raw for token in self._question[max(at - 2, 0) : at]]
        if before[:1] == [INCLUDING] and before[1:] in (["the"], ["a"], ["an"]):
            return INCLUDING
        return before[-1] if before else ""

    def _defined(self, tokens: Sequence[Token], at: int) -> tuple[int, tuple[QuestionItem, ...]] | None:
        """Reads a term of the glossary. "Active customers" names a condition and its table."""
        if tokens[0].kind == "quoted" or (found := self._lexicon.definition(tokens)) is None:
            return None
        length, definition = found
        words = tokens[:length]
        text = " ".join(token.text for token in words)
        if definition.kind != "condition":
            return length, (said.Revenue(text, definition),)
        field = definition.fields[0]
        link = LexiconEntry(table=field.table, score=EXACT, field=field, flag=True, definition=definition)
        whole = SchemaMention(text=text, links=(link,), lead=self._lead(at))
        tables = tuple(link for link in self._lexicon.find(words[-1:])[1] if link.table == field.table)
        if not any(link.is_table and not link.verb for link in tables):
            return length, (whole,)
        before = words[:-1] or words
        described = replace(whole, text=" ".join(token.text for token in before))
        noun = SchemaMention(text=words[-1].text, links=tables, lead=before[-1].raw, plural=words[-1].plural)
        return length, (described, noun)

    def _costs(self, at: int) -> bool:
        """True if "cost" is a verb here, so that the price is meant: "products that cost more than 300"."""
        if self._question[at].raw not in ("cost", "costs", "costing") or not at:
            return False
        before = self._question[at - 1]
        whose = [token.raw for token in self._question[max(at - 2, 0) : at]] in (["which", "of"], ["which"])
        return self._question[at].raw == "costing" or whose or before.raw in ("that", "who") or before.plural

    def _is_compared(self, mention: SchemaMention, rest: Sequence[str]) -> bool:
        """True if a word like "total" names a column here, because a comparison follows."""
        found = first_rule(" ".join(rest), RULES)
        compared = found is not None and isinstance(found[1][0] if found[1] else None, said.NumberComparison)
        return compared and any(link.is_number and link.score >= EXACT for link in mention.links)

    def _rule(self, text: str) -> tuple[int, tuple[QuestionItem, ...]] | None:
        if self._relations and (found := first_rule(text, RELATIONS)):
            return found
        if not self._holds_growth and (found := first_rule(text, GROWTH)):
            return found
        if self._sorts and text.startswith("by "):
            return 1, (said.Sort(None),)
        found = first_rule(text, RULES)
        if found and isinstance(found[1][0] if found[1] else None, said.NumberComparison):
            found = self._without_unit(found, text)
        if found and isinstance(found[1][0] if found[1] else None, said.WeekdayMention):
            words = tokenise(" ".join(text.split()[: found[0]]))
            if any(self._lexicon.find(words[at:])[0] for at in range(len(words))):
                return None  # a flag or a stored value such as "weekend"
        if found and text.startswith(("only", "just")) and not self._named:
            so_many = [
                item
                for item in found[1]
                if isinstance(item, said.NumberComparison) and not (item.times or item.unit)
            ]
            return (found[0], (said.Limit(int(float(so_many[0].numbers[0]))),)) if so_many else found
        return found

    def _without_unit(
        self, found: tuple[int, tuple[QuestionItem, ...]], text: str
    ) -> tuple[int, tuple[QuestionItem, ...]]:
        """Returns a comparison without its unit if that names a table or column: "with over 5 days"."""
        compared = found[1][0]
        if not isinstance(compared, said.NumberComparison) or not compared.unit:
            return found
        words = text.split()[: found[0]]
        at = max(place for place, word in enumerate(words) if word == compared.unit)
        if all(link.score < CLOSE for link in self._lexicon.find(tokenise(compared.unit))[1]):
            return found
        return at, (replace(compared, unit=""),)

    @property
    def _last(self) -> QuestionItem | None:
        return self._read[-1] if self._read else None

    @property
    def _ranks_last(self) -> bool:
        return isinstance(self._last, said.Rank)

    @property
    def _named(self) -> bool:
        """True if a table, column or value was named before."""
        return any(isinstance(item, SchemaMention | said.Revenue) for item in self._read)

    @property
    def _named_table(self) -> bool:
        return any(
            isinstance(item, SchemaMention) and any(link.is_table for link in item.links)
            for item in self._read
        )

    def _on_number(self) -> bool:
        last = self._last
        return isinstance(last, SchemaMention) and any(link.is_number for link in last.links)

    def _counted(self, tokens: Sequence[Token], lead: str) -> tuple[int, tuple[QuestionItem, ...]]:
        """Reads a bare number as a limit or as a comparison.

        "The 10 customers with ..." has a limit; "with 4 cylinders" and "who placed 4 orders" compare.
        """
        _, links = self._lexicon.find(tokens[1:])
        rule = self._rule(" ".join(token.raw for token in tokens[1:]))
        equal = said.NumberComparison("=", (tokens[0].raw,))
        if (lead in HAVING and links) or any(link.is_number for link in links):
            return 1, (equal,)
        if [token.raw for token in tokens[1:2]] == ["times"] and self._named_table:
            return 2, (replace(equal, times=True),)
        length = self._lexicon.find(tokens[1:])[0]
        _, further = self._lexicon.find(tokens[1 + length :])
        if any(link.is_table for link in links) and any(link.is_table and not link.verb for link in further):
            raise Beyond("I cannot tell what the number counts here.")
        if any(link.is_table for link in links) and self._named_table:
            return 1, (equal,)
        if any(link.is_table for link in links) or (rule and _ranks(rule[1])):
            return 1, (said.Limit(int(float(tokens[0].raw))),)
        return 0, ()

    def _pass_over(self, at: int) -> None:
        """Raises `Beyond` unless the word is meaningless here."""
        token = self._question[at]
        raws = [before.raw for before in self._question[:at]]
        each_of = raws[-1:] in (["of"], ["for"]) and _RELATIVE.isdisjoint(raws)
        leading = {"only": self._named, "just": self._named, "all": self._named_table and not each_of}
        if token.raw in leading:
            if leading[token.raw]:
                raise Beyond("The question restricts the answer in a way that I cannot express.")
            return
        after = self._question[at + 1].word if at + 1 < len(self._question) else ""
        if token.raw in ("work", "working") and after == "day":
            raise Beyond("I count each day of the calendar: I do not know on which days work is done.")
        if token.raw == "still" and any(
            link.verb and link.is_table for link in self._lexicon.find(self._question[at + 1 :])[1]
        ):
            raise Beyond("I cannot tell what still goes on.")
        if token.raw == "like" and raws and raws[-1] not in ("would", "i", "we", "d"):
            raise Beyond("I can look for texts as they are stored, not for similar ones.")
        if token.raw in _EXCLUDING:
            raise Beyond("The question excludes or combines in a way that I cannot express safely.")
        if token.raw in _WRITING:
            raise AsksForChange
        if token.raw in _CALCULATING or (at == 0 and token.raw == "where"):
            raise Beyond("The question asks for a comparison, calculation or reason that I cannot work out.")
        if token.raw in _PASSED_OVER or (self._relations and token.raw in _PEOPLE):
            return
        raise UnknownWord(token)


def _ranks(items: Sequence[QuestionItem]) -> bool:
    return any(isinstance(item, said.Rank) for item in items)
