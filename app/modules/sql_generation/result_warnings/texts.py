"""The sentences of warnings about results, in four languages."""

from collections.abc import Mapping

from app.core.language import LANGUAGES, Language

_THOUSANDS: Mapping[Language, str] = {"en": ",", "de": ".", "es": ".", "fr": "\u202f"}

TEXTS: Mapping[str, tuple[str, str, str, str]] = {
    "as it is": (
        "{0}",
        "{0}",
        "{0}",
        "{0}",
    ),
    "null column": (
        "Every value of “{0}” is null.",
        "Alle Werte von „{0}“ fehlen (NULL).",
        "Todos los valores de «{0}» son nulos.",
        "Toutes les valeurs de «\u00a0{0}\u00a0» sont nulles.",
    ),
    "unknown text": (
        "No {0} was “{1}” when the database was last scanned.",
        "Beim letzten Einlesen der Datenbank war kein Wert von {0} „{1}“.",
        "Ningún valor de {0} era «{1}» cuando se leyó la base de datos por última vez.",
        "Aucune valeur de {0} n'était «\u00a0{1}\u00a0» à la dernière lecture de la base de données.",
    ),
    "unknown text with others": (
        "No {0} was “{1}” when the database was last scanned. The nearest stored there: {2}.",
        "Beim letzten Einlesen der Datenbank war kein Wert von {0} „{1}“. Dort am ähnlichsten: {2}.",
        (
            "Ningún valor de {0} era «{1}» cuando se leyó la base de datos por última vez. Los más "
            "parecidos: {2}."
        ),
        (
            "Aucune valeur de {0} n'était «\u00a0{1}\u00a0» à la dernière lecture de la base de données. "
            "Les plus proches\u00a0: {2}."
        ),
    ),
    "empty table": (
        "{0} held no rows when the database was last scanned.",
        "{0} hatte beim letzten Einlesen der Datenbank keine Zeilen.",
        "{0} no tenía filas cuando se leyó la base de datos por última vez.",
        "{0} n'avait aucune ligne à la dernière lecture de la base de données.",
    ),
    "empty join": (
        "No rows of {0} and {1} belong together by {2}: the join is empty.",
        "Keine Zeilen von {0} und {1} gehören nach {2} zusammen: Die Verknüpfung ist leer.",
        "Ninguna fila de {0} y {1} se corresponde por {2}: la unión está vacía.",
        "Aucune ligne de {0} et de {1} ne correspond par {2}\u00a0: la jointure est vide.",
    ),
    "cut list": (
        "The statement returns at most {0} rows, and the question names no number: there may be more.",
        "Die Abfrage liefert höchstens {0} Zeilen, und die Frage nennt keine Zahl: Es kann mehr geben.",
        "La consulta devuelve como máximo {0} filas y la pregunta no nombra ningún número: puede haber más.",
        (
            "La requête renvoie au plus {0} lignes et la question ne donne pas de nombre\u00a0: il peut y "
            "en avoir plus."
        ),
    ),
    "no join": (
        "Nothing joins {0} to {1}: every row of one meets every row of the other.",
        "Nichts verknüpft {0} mit {1}: Jede Zeile der einen trifft auf jede Zeile der anderen.",
        "Nada une {0} con {1}: cada fila de una se combina con cada fila de la otra.",
        "Rien ne relie {0} à {1}\u00a0: chaque ligne de l'une rencontre chaque ligne de l'autre.",
    ),
    "rows that differ": (
        "A row of {0} may meet several rows of {1}: only {2} of {3} rows differ.",
        (
            "Eine Zeile von {0} kann auf mehrere Zeilen von {1} treffen: Nur {2} von {3} Zeilen sind "
            "verschieden."
        ),
        "Una fila de {0} puede combinarse con varias de {1}: solo {2} de {3} filas son distintas.",
        (
            "Une ligne de {0} peut rencontrer plusieurs lignes de {1}\u00a0: seules {2} lignes sur {3} "
            "diffèrent."
        ),
    ),
    "more rows than tables": (
        "A row of {0} may meet several rows of {1}: there are {2} rows, more than in any of the tables.",
        (
            "Eine Zeile von {0} kann auf mehrere Zeilen von {1} treffen: Es sind {2} Zeilen, mehr als in "
            "jeder der Tabellen."
        ),
        (
            "Una fila de {0} puede combinarse con varias de {1}: hay {2} filas, más que en cualquiera de "
            "las tablas."
        ),
        (
            "Une ligne de {0} peut rencontrer plusieurs lignes de {1}\u00a0: il y a {2} lignes, plus que "
            "dans chacune des tables."
        ),
    ),
    "hidden tie": (
        "Other rows share this place: the statement keeps one of them.",
        "Weitere Zeilen teilen diesen Platz: Die Abfrage behält eine davon.",
        "Otras filas comparten este puesto: la consulta conserva una de ellas.",
        "D'autres lignes partagent cette place\u00a0: la requête n'en garde qu'une.",
    ),
    "repeated rows": (
        (
            "{0} is joined to {1}, of which several rows may belong to one of {0}: {2} may count the same "
            "row more than once."
        ),
        (
            "{0} ist mit {1} verknüpft, wovon mehrere Zeilen zu einer von {0} gehören können: {2} zählt "
            "dieselbe Zeile womöglich mehrmals."
        ),
        (
            "{0} está unida a {1}, de la que varias filas pueden corresponder a una de {0}: {2} puede "
            "contar la misma fila más de una vez."
        ),
        (
            "{0} est jointe à {1}, dont plusieurs lignes peuvent correspondre à une de {0}\u00a0: {2} peut "
            "compter la même ligne plusieurs fois."
        ),
    ),
}


def text(language: Language, name: str, *values: str | int) -> str:
    """Returns the sentence; numbers have the language's mark of thousands."""
    separator = _THOUSANDS[language]
    written = [f"{each:,}".replace(",", separator) if isinstance(each, int) else each for each in values]
    return TEXTS[name][LANGUAGES.index(language)].format(*written)
