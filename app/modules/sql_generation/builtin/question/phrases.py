"""Phrases of several words that name something together with what is done with it."""

from collections.abc import Sequence

from app.modules.sql_generation.builtin.plan import Beyond
from app.modules.sql_generation.builtin.question.items import (
    Lacking,
    NumberComparison,
    QuestionItem,
    Rank,
    Rate,
    Revenue,
    SchemaMention,
)
from app.modules.sql_generation.builtin.question.lexicon import Lexicon
from app.modules.sql_generation.builtin.question.rules import RULES, SIZE, first_rule
from app.modules.sql_generation.builtin.question.words import ORDERING, REVENUE, Token

_WORTH = ("amount", "value", "worth")
_WORTHS = [[word] for word in (*_WORTH, "total")]
LENGTH = ("length", "duration")
_OF_ROWS = ("of", "per", "for", "each", "an", "a", "the", "all", "our", "single")


def read_worth(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, tuple[QuestionItem, ...]] | None:
    """Reads the money of rows: "order value", "amount of invoices", "value per order"."""
    at = 0
    if tokens[0].raw in _WORTH or tokens[0].word in REVENUE:
        at = 1
        while at < len(tokens) and tokens[at].raw in _OF_ROWS:
            at += 1
        if at == 1:
            return None
    length, links = lexicon.find(tokens[at:])
    tables = tuple(link for link in links if link.is_table and not link.verb)
    end = at + length
    if tables and not at and (after := tokens[end : end + 1]) and after[0].raw in LENGTH:
        rows = SchemaMention(text=tokens[end - 1].text, links=tables, plural=True)
        return end + 1, (Revenue(after[0].text, of=rows, hint=SIZE),)
    if not tables or (not at and [each.raw for each in tokens[end : end + 1]] not in _WORTHS):
        return None
    last = tokens[end - 1]
    known = lexicon.find(tokens[:1])[1] if at else ()
    own = {link.table for link in known if link.is_number} & {link.table for link in tables}
    is_amount_of = [each.raw for each in tokens[:2]] == ["amount", "of"]
    if is_amount_of and last.word not in ORDERING and known and not own:
        raise Beyond("I cannot tell whether a number of rows or an amount is meant.")
    if last.word not in ORDERING and (tokens[0].word in REVENUE or any(link.is_number for link in known)):
        return None
    said = tokens[: end if at else end + 1]
    rows = SchemaMention(text=last.text, links=tables, lead="of", plural=last.plural)
    return len(said), (Revenue(" ".join(each.text for each in said), of=rows),)


def read_days(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, tuple[QuestionItem, ...]] | None:
    """Reads "days between order and shipping" and "days from signup to order": a number of each row."""
    raws = [token.raw for token in tokens]
    if raws[:1] not in (["day"], ["days"]) or raws[1:2] not in (["between"], ["from"]):
        return None
    at = 2
    dates = list[SchemaMention]()
    for joint in (None, "and" if raws[1] == "between" else "to"):
        if joint and raws[at : at + 1] != [joint]:
            return None
        at += bool(joint)
        at += raws[at : at + 1] in (["the"], ["an"], ["a"], ["its"], ["their"])
        length, links = lexicon.find(tokens[at:])
        if not length and tokens[at:]:
            length, links = 1, lexicon.alike(tokens[at].raw)
        if not links:
            return None
        text = " ".join(token.text for token in tokens[at : at + length])
        dates.append(SchemaMention(text=text, links=links))
        at += length
    text = " ".join(token.text for token in tokens[:at])
    return at, (Revenue(text, between=(dates[0], dates[1])),)


def read_rate(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, tuple[QuestionItem, ...]] | None:
    """Reads "return rate" and "cancellation rate": the share of rows with an event or a state."""
    if [each.word for each in tokens[1:2]] != ["rate"] or lexicon.find(tokens)[0] > 1:
        return None
    links = lexicon.find(tokens[:1])[1] + lexicon.alike(tokens[0].raw)
    state = SchemaMention(text=tokens[0].text.lower(), links=tuple(dict.fromkeys(links)))
    return (2, (Rate(state),)) if links else None


def read_top_sellers(raws: Sequence[str], lexicon: Lexicon) -> tuple[int, tuple[QuestionItem, ...]] | None:
    """Reads "top sellers" as the products that are sold most, where there is a table of them."""
    match raws:
        case ["top" | "best", "seller" | "sellers" as noun, *_]:
            said = 2
        case ["bestseller" | "bestsellers" as noun, *_]:
            said = 1
        case _:
            return None
    product = Token(text="products", raw="products", word="product", kind="word")
    links = tuple(link for link in lexicon.find([product])[1] if link.is_table)
    if not links:
        return None
    return said, (
        Rank(True, about="sales"),
        SchemaMention(text="products", links=links, plural=noun.endswith("s")),
    )


def is_name_of_column(after: Sequence[Token], lexicon: Lexicon) -> bool:
    """True if a text column follows: "names of makers" are the makers themselves."""
    raws = [token.raw for token in after[:3]]
    if raws[:1] != ["of"]:
        return False
    skipped = next((at for at, raw in enumerate(raws) if raw not in ("of", "the", "all", "each")), len(raws))
    links = lexicon.find(after[skipped:])[1]
    return bool(links) and all(link.is_column and link.field and link.field.type == "text" for link in links)


def read_compared(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, tuple[QuestionItem, ...]] | None:
    """Reads a column between a comparison and its number: "above age 20"."""
    raws = [token.raw for token in tokens]
    for at in range(1, min(4, len(tokens) - 1)):
        length, links = lexicon.find(tokens[at:])
        end = at + length
        if not any(link.is_number for link in links) or [t.kind for t in tokens[end : end + 1]] != ["number"]:
            continue
        found = first_rule(" ".join([*raws[:at], raws[end]]), RULES)
        if found and found[0] == at + 1 and isinstance(found[1][0], NumberComparison):
            text = " ".join(token.text for token in tokens[at:end])
            return end + 1, (SchemaMention(text=text, links=links), found[1][0])
    return None


def read_negated(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, tuple[QuestionItem, ...]]:
    """Reads a negating prefix: "unshipped", "inactive"."""
    token = tokens[0]
    for prefix in ("un", "in", "non"):
        rest = token.raw.removeprefix(prefix)
        if token.kind == "word" and rest != token.raw and len(rest) > 3:
            _, links = lexicon.find([Token(text=rest, raw=rest, word=rest, kind="word")])
            if links and all(link.verb or link.flag or link.value or link.is_date for link in links):
                return 1, (Lacking(), SchemaMention(text=rest, links=links))
    return 0, ()
