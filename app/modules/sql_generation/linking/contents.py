"""The kind of text in a column, guessed from its name and stored texts. Prompts show samples accordingly.

Neither sign is proof. A column that is mistaken for free text only loses its samples in prompts: a text
that a question spells in full is still found in it.
"""

import re
from collections.abc import Sequence
from typing import Literal

from app.modules.database_connection.schema import Table, TableColumn
from app.modules.sql_generation.linking.words import words_of

ColumnContents = Literal["category", "person", "private"]
"""`private` is personal data or free text: e-mails, phones, streets, addresses of pages, hashes, prose.
`person` is names of people. `category` is everything that people filter by: names of things, codes, states.
"""

_REACHES_PEOPLE = """
email mail phone telephone mobile cell cellphone fax pager street address
telefon mobil handy strasse adresse anschrift courriel rue correo direccion telefono calle indirizzo
"""
_SINGLES_OUT = """
birth birthday birthdate dob geburtsdatum passport ssn iban password passwort secret
"""
_FOR_MACHINES = """
url uri link homepage website ip hash digest checksum uuid guid token salt signature
"""
_PROSE = """
note comment remark description abstract summary bio biography body text message memo review feedback
notiz bemerkung beschreibung kommentar
"""
_PRIVATE = frozenset((_REACHES_PEOPLE + _SINGLES_OUT + _FOR_MACHINES + _PROSE).split())

_PARTS_OF_NAMES = """
first last middle given family full maiden sur fore nick user vor nach firstname lastname middlename
surname forename fullname nickname username vorname nachname familienname
"""
_ROLES = """
person people customer client employee staff student teacher pupil user member visitor patient doctor
physician nurse author owner tenant guest passenger singer artist player athlete driver professor
instructor contact participant voter applicant candidate actor director manager conductor supplier
kunde mitarbeiter schuler lehrer
"""
_PEOPLE = frozenset((_PARTS_OF_NAMES + _ROLES).split())
_NAMES = frozenset({"name", "naam", "nombre", "nom"})
_TAILS = frozenset({"name", "number", "no", "nr", "num", "line"})
"""Words behind the one that says what is held: "street name", "phone number"."""

_LOOKED_AT = 100
_LONG = 60
_MANY_WORDS = 9
_MACHINE = re.compile(
    r"(?P<mail>[^@\s]+@[^@\s]+\.[^@\s]+)"
    r"|(?P<page>(?:https?://|ftp://|www\.)\S+)"
    r"|(?P<phone>(?=(?:\D*\d){9})\+?[\d ().\-/x]{9,})"
    r"|(?P<digest>(?=.*\d)[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|(?=.*\d)[0-9a-f]{32,})"
)
_STREET = re.compile(
    r"(?i:.*\w (?:st|str|street|ave|avenue|rd|road|blvd|boulevard|lane|ln|drive|dr|court|platz|allee|weg)\b"
    r"\.?(?: [NSEW]{1,2})?(?:,.*)?"
    r"|.*(?:stra(?:ß|ss)e|str\.) ?\d.*|\d+,? rue .*|rua .*\d.*|calle .*\d.*|via .*\d.*)"
)


def contents_of(table: Table, column: TableColumn, texts: Sequence[str]) -> ColumnContents:
    """Returns the kind of text in a column. `texts` are its known stored texts; may be empty."""
    words = [word for word in words_of(column.name) if not word.isdigit()]
    if _names_private(words) or _are_private(texts):
        return "private"
    return "person" if _names_people(table, words) else "category"


def _names_private(words: Sequence[str]) -> bool:
    """True if the last word names private data: "address" does, "address type" does not."""
    head = list(words)
    while len(head) > 1 and head[-1] in _TAILS:
        head.pop()
    return not _PRIVATE.isdisjoint([*head[-1:], "".join(words)])


def _names_people(table: Table, words: Sequence[str]) -> bool:
    said = set(words)
    if said & _PEOPLE:
        return len(words) == 1 or bool(said & _NAMES)
    return said <= _NAMES and not _PEOPLE.isdisjoint(words_of(table.name))


def _are_private(texts: Sequence[str]) -> bool:
    """True if at least half of the first texts have a private form, or the texts are prose on average."""
    looked_at = texts[:_LOOKED_AT]
    count = len(looked_at)
    if not count:
        return False
    for form in (_MACHINE, _STREET):
        if 2 * sum(form.fullmatch(text) is not None for text in looked_at) >= count:
            return True
    words = sum(len(text.split()) for text in looked_at)
    return words > _MANY_WORDS * count or sum(map(len, looked_at)) > _LONG * count
