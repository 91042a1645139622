"""Roundabout wordings of a question in the plain words that are read."""

import re
from collections.abc import Set

from app.modules.sql_generation.builtin.plan import Beyond
from app.modules.sql_generation.builtin.question.lexicon import Lexicon
from app.modules.sql_generation.builtin.question.rules import COMPARED, OF_GROUPS
from app.modules.sql_generation.builtin.question.words import (
    GROUPING,
    WORDS,
    tokenise,
    word_set,
    words_of,
)

_SECOND = re.compile(
    r"(?P<first>[^?.!]+[?.!])\s*(?:please )?(?:list|give|show|return)\b(?P<columns>[^?.!]*)[?.!]*\s*",
    re.IGNORECASE,
)
_COLUMN_WORDS = word_set("me u the and its it ha number of count name list that with")
_RANKED = re.compile(r"\b(?:most|fewest|least|highest|lowest|largest|smallest)\b", re.IGNORECASE)
_SEVERAL = re.compile(r"what are\b", re.IGNORECASE)
_ITS_COUNT = re.compile(
    r",? and how many(?: (?P<rows>[\w ]+?))? (?:does it (?:have|use|contain)|it has|(?:use|have) it)"
    r"(?=[?.!]*\s*$)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\b(?P<end>largest|highest|greatest|biggest|smallest|lowest|least|most) amount of (?P<of>\w+)",
    re.IGNORECASE,
)
_USED_AS = re.compile(
    r"\b(?:has|have|having|with) (?:a |an )?(?P<value>[\w ]+?) as (?:a|an|the|their|its|his|her)(?: type of)?"
    r" (?P<column>[\w ]+?)(?=[?.!,]*\s*$| and | but )",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"(?P<each>(?:for|in|at) each\b.+?)(?: (?:play|happen|occur|exist|are|live))? there\b", re.IGNORECASE
)
_SORTED = re.compile(
    r"(?:(?P<first>^)|,? and |, )(?:order|sort|list|arrange)(?:ed)?"
    r"(?: (?P<those>them|these|those|the (?:results?|list)))?"
    r" (?=in (?:ascending|descending|alphabetical) )",
    re.IGNORECASE,
)
_FOR_EACH = re.compile(
    r"for each of (?:them|those|these),? (?=also )"
    r"|(?P<also>^also .*?) for each(?: of (?:them|those|these)| one)?(?=[?.!]*\s*$)",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\b(?:number|count) of\b|\bhow many\b", re.IGNORECASE)
_NUMBERED = re.compile(r"number of|how many|count|total|average|max|min", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:(?:what (?:is|are)|show|list|find|give(?: me)?|return|please) )*(?:the )?(?:different )?"
    r"(?:names? of )?(?:(?:the|each|every|all) )*(?P<rows>[\w ]+?),?"
    r" (?:and|with|along with|as well as) (?:also )?(?:(?:the|their|its) )?(?:corresponding |respective )?"
    r"(?:number of|how many|count of) (?:(?:the|different) )*(?P<counted>[\w ]+?)"
    r"(?: do| does)?(?: (?:they|it|each one|each|using it|(?:they|it|each) (?:has|have|owns?|teach(?:es)?"
    r"|plays?|produces?|makes?|uses?|offers?|holds?|contains?|conducts?|sings?|are arranged to teach)))?"
    r"(?P<rest> in (?:ascending|descending)\b.*)?[?.!]*\s*",
    re.IGNORECASE,
)


_DAYS = re.compile(
    r"(?:average |mean )?(?:number of |how many )days"
    r"(?: (?:are there|were there|are|pass(?:ed)?|lie|lay|go by|is it))?(?P<average> on average)?"
    r" (?P<between>(?:between|from) .+?)(?P<after> on average)?(?=$|[?.!]| (?:in|for|per|by) )",
    re.IGNORECASE,
)
_GREW = re.compile(
    r"(?:by )?how (?:much |strongly |fast )?(?:did|has|have|had|does|do) (?P<what>.+?) "
    r"(?:gr(?:o|e)wn?|increased?|ris(?:e|en)|declined?|decreased?|f[ae]ll(?:en)?|dropp?(?:ed)?|shr[aiu]nk)"
    r"(?P<rest>$|[?.!]| (?:in|this|last|since|between|from|during|per|by|over|compared|vs|versus)\b)",
    re.IGNORECASE,
)
_RESTRICTING = word_set(", only just those ones them where when if keep keeping showing")
_GROUPS = word_set("those ones them groups")
_TOTALS = word_set("total sum number")
_RESTRICTED = _RESTRICTING | word_set(WORDS["restricting"])
_COMPARED_LAST = re.compile(
    rf"(?<!\w)(?P<compared>(?:{COMPARED}) ?[$€£]?\d[\d,.]*(?: and [$€£]?\d[\d,.]*)?)(?: only)?[?.!]*\s*$",
    re.IGNORECASE,
)
_EACH_FIRST = re.compile(
    r"(?P<each>(?:for|in|within) (?:each|every) [^,]+),"
    r" (?P<rest>[^,]*?\b(?:most|best|top|\w+est)\b[^,]*?)[?.!]*\s*",
    re.IGNORECASE,
)


def _compare_groups(question: str, lexicon: Lexicon) -> str:
    """Marks the comparison of "revenue by country, only those above 100" as one of each group.

    Raises `Beyond` if it may be one of each row: "orders by country where the total is above 100".
    """
    if (compared := _COMPARED_LAST.search(question)) is None:
        return question
    words = question[: compared.start()].replace(",", " ,").split()
    grouped = next((at for at, word in enumerate(words) if word.lower() in GROUPING), len(words))
    asked = words_of(" ".join(words[:grouped]))
    known = _RESTRICTED.union(asked)
    end = len(words)
    while end > grouped + 2 and known.intersection([words[end - 1].lower(), *words_of(words[end - 1])]):
        end -= 1
    said = [word.lower() for word in words[end:]]
    if _RESTRICTING.isdisjoint(said):
        return question
    of_groups = asked if not _GROUPS.isdisjoint(said) else _TOTALS.intersection(asked)
    for word in said:
        numbers = [link for link in lexicon.find(tokenise(word))[1] if link.is_number]
        if numbers and not {word, *words_of(word)}.intersection(of_groups):
            raise Beyond(f"I cannot tell whether each {word} is compared, or the number of each group.")
    return f"{' '.join(words[:end])} {OF_GROUPS} {compared['compared']}"


def rephrase(question: str, lexicon: Lexicon) -> str:
    """Returns the question in plain words: "number of courses for each teacher" for "names of teachers and
    the number of courses they teach". What it asks for stays the same. Raises `Beyond` for a comparison that
    may be one of rows or of groups.
    """
    if (each := _EACH_FIRST.fullmatch(question)) is not None:
        question = f"{each['rest']} {each['each']}"
    question = _DAYS.sub(_count_days, question)
    question = _GREW.sub(r"growth of \g<what>\g<rest>", question)
    question = _compare_groups(question, lexicon)
    if ranked := _RANKED.search(question):
        counted = _table_words(question[ranked.end() :], lexicon)
        question = _leave_out_count(question, counted) if counted else question
        question = _AMOUNT.sub(r"\g<end> \g<of>", question)
    question = _USED_AS.sub(lambda found: _as_column(found, lexicon), question)
    question = _SORTED.sub(
        lambda found: "those " if found["first"] is not None and found["those"] else " ", question
    )
    if not _NUMBERED.search(question):
        question = _FOR_EACH.sub(lambda found: found["also"] or "", question)
    question = _THERE.sub(r"\g<each>", question)
    found = None if _RANKED.search(question) else _COUNTED.fullmatch(question)
    if found and _names(found["rows"], lexicon) and _names(found["counted"], lexicon, tables=True):
        return f"number of {found['counted']} for each {found['rows']}{found['rest'] or ''}"
    return question


def _count_days(found: re.Match[str]) -> str:
    """Returns "average days between" for "how many days pass between ... on average"."""
    is_average = found["average"] or found["after"] or found[0].lower().startswith(("average", "mean"))
    return f"average days {found['between']}" if is_average else found[0]


def _leave_out_count(question: str, counted: Set[str]) -> str:
    """Leaves out what asks for the number of the `counted` rows, which the answer to "the most" shows, or for
    that and columns that the first sentence names.
    """
    second = _SECOND.fullmatch(question)
    if second and _RANKED.search(second["first"]) and _COUNT.search(second["columns"]):
        known = {*words_of(second["first"]), *_COLUMN_WORDS}
        question = second["first"] if set(words_of(second["columns"])) <= known else question
    if _SEVERAL.match(question):
        return question
    return _ITS_COUNT.sub(
        lambda found: "" if set(words_of(found["rows"] or "")) <= counted else found[0], question
    )


def _table_words(text: str, lexicon: Lexicon) -> Set[str]:
    """Returns the words of the table that a text begins with; none if it begins with something else."""
    tokens = tokenise(text)
    length, links = lexicon.find(tokens)
    is_table = any(link.is_table for link in links)
    return set(words_of(" ".join(token.raw for token in tokens[:length]))) if is_table else set()


def _as_column(found: re.Match[str], lexicon: Lexicon) -> str:
    column = found["column"]
    return f"with {column} {found['value']}" if _names(column, lexicon) else found[0]


def _names(text: str, lexicon: Lexicon, *, tables: bool = False) -> bool:
    """Returns True if the whole text is the name of a table, or also of a column."""
    tokens = tokenise(text)
    length, links = lexicon.find(tokens) if tokens else (0, ())
    return 0 < length == len(tokens) and any(
        link.is_table if tables else link.value is None for link in links
    )
