"""The sentences of warnings about results, in four languages."""

from collections.abc import Mapping

from app.core.language import LANGUAGES, Language
from app.modules.sql_generation.contradictions.phrase import WarningPhrase

_THOUSANDS: Mapping[Language, str] = {"en": ",", "de": ".", "es": ".", "fr": "\u202f"}

TEXTS: Mapping[str, tuple[str, str, str, str]] = {
    "keeps the highest": (
        "The question asks for the lowest, and the statement keeps the highest.",
        "Die Frage gilt dem niedrigsten Wert, die Abfrage behält den höchsten.",
        "La pregunta pide lo más bajo y la consulta conserva lo más alto.",
        "La question demande le plus bas et la requête garde le plus haut.",
    ),
    "keeps the lowest": (
        "The question asks for the highest, and the statement keeps the lowest.",
        "Die Frage gilt dem höchsten Wert, die Abfrage behält den niedrigsten.",
        "La pregunta pide lo más alto y la consulta conserva lo más bajo.",
        "La question demande le plus haut et la requête garde le plus bas.",
    ),
    "keeps the latest": (
        "The question asks for the earliest, and the statement keeps the latest.",
        "Die Frage gilt dem frühesten Zeitpunkt, die Abfrage behält den spätesten.",
        "La pregunta pide lo primero en el tiempo y la consulta conserva lo último.",
        "La question demande le plus ancien dans le temps et la requête garde le plus récent.",
    ),
    "keeps the earliest": (
        "The question asks for the latest, and the statement keeps the earliest.",
        "Die Frage gilt dem spätesten Zeitpunkt, die Abfrage behält den frühesten.",
        "La pregunta pide lo último en el tiempo y la consulta conserva lo primero.",
        "La question demande le plus récent et la requête garde le plus ancien dans le temps.",
    ),
    "keeps the oldest": (
        "The question asks for the youngest, and the statement keeps the oldest.",
        "Die Frage gilt dem jüngsten Eintrag, die Abfrage behält den ältesten.",
        "La pregunta pide lo más joven y la consulta conserva lo más viejo.",
        "La question demande le plus jeune et la requête garde le plus âgé.",
    ),
    "keeps the youngest": (
        "The question asks for the oldest, and the statement keeps the youngest.",
        "Die Frage gilt dem ältesten Eintrag, die Abfrage behält den jüngsten.",
        "La pregunta pide lo más viejo y la consulta conserva lo más joven.",
        "La question demande le plus âgé et la requête garde le plus jeune.",
    ),
    "keeps what is less": (
        "The question asks for values from {0} upwards, and the statement compares the other way round.",
        "Die Frage gilt Werten ab {0}, die Abfrage vergleicht umgekehrt.",
        "La pregunta pide valores a partir de {0} y la consulta compara al revés.",
        "La question demande des valeurs à partir de {0} et la requête compare dans l'autre sens.",
    ),
    "keeps what is more": (
        "The question asks for values up to {0}, and the statement compares the other way round.",
        "Die Frage gilt Werten bis {0}, die Abfrage vergleicht umgekehrt.",
        "La pregunta pide valores hasta {0} y la consulta compara al revés.",
        "La question demande des valeurs jusqu'à {0} et la requête compare dans l'autre sens.",
    ),
    "sorts ascending": (
        "The question asks for descending order, and the statement sorts the other way round.",
        "Die Frage verlangt eine absteigende Reihenfolge, die Abfrage sortiert umgekehrt.",
        "La pregunta pide un orden descendente y la consulta ordena al revés.",
        "La question demande un ordre décroissant et la requête trie dans l'autre sens.",
    ),
    "sorts descending": (
        "The question asks for ascending order, and the statement sorts the other way round.",
        "Die Frage verlangt eine aufsteigende Reihenfolge, die Abfrage sortiert umgekehrt.",
        "La pregunta pide un orden ascendente y la consulta ordena al revés.",
        "La question demande un ordre croissant et la requête trie dans l'autre sens.",
    ),
    "other limit": (
        "The question asks for {0}, and the statement returns at most {1}.",
        "Die Frage verlangt {0}, die Abfrage liefert höchstens {1}.",
        "La pregunta pide {0} y la consulta devuelve como máximo {1}.",
        "La question en demande {0} et la requête en renvoie au plus {1}.",
    ),
    "no limit": (
        "The question asks for {0}, and the statement has no such limit.",
        "Die Frage verlangt {0}, die Abfrage hat keine solche Grenze.",
        "La pregunta pide {0} y la consulta no tiene ese límite.",
        "La question en demande {0} et la requête n'a pas cette limite.",
    ),
    "keeps what is excluded": (
        "The question excludes “{0}”, and the statement asks for it.",
        "Die Frage schließt „{0}“ aus, die Abfrage verlangt es.",
        "La pregunta excluye «{0}» y la consulta lo pide.",
        "La question exclut «\u00a0{0}\u00a0» et la requête le demande.",
    ),
    "keeps what has a flag": (
        "The question asks for what is not {0}, and the statement for what is.",
        "Die Frage gilt dem, was nicht „{0}“ ist, die Abfrage dem, was es ist.",
        "La pregunta pide lo que no es «{0}» y la consulta lo que sí lo es.",
        "La question demande ce qui n'est pas «\u00a0{0}\u00a0» et la requête ce qui l'est.",
    ),
    "excludes nothing": (
        "The question asks for what is missing (“{0}”), and the statement excludes nothing.",
        "Die Frage gilt dem, was fehlt („{0}“), die Abfrage schließt nichts aus.",
        "La pregunta pide lo que falta («{0}») y la consulta no excluye nada.",
        "La question demande ce qui manque («\u00a0{0}\u00a0») et la requête n'exclut rien.",
    ),
    "excludes what is asked for": (
        "The statement excludes “{0}”, which the question asks for.",
        "Die Abfrage schließt „{0}“ aus, wonach die Frage fragt.",
        "La consulta excluye «{0}», que la pregunta pide.",
        "La requête exclut «\u00a0{0}\u00a0», que la question demande.",
    ),
    "ignored term": (
        "The glossary defines “{0}” as {1}, and the statement does not use that.",
        "Das Glossar definiert „{0}“ als {1}, die Abfrage nutzt das nicht.",
        "El glosario define «{0}» como {1} y la consulta no lo usa.",
        "Le glossaire définit «\u00a0{0}\u00a0» par {1} et la requête ne l'utilise pas.",
    ),
    "no period": (
        "The question asks for {0}, and the statement has no condition on it.",
        "Die Frage gilt dem Zeitraum {0}, die Abfrage hat dafür keine Bedingung.",
        "La pregunta pide el período {0} y la consulta no lo pone como condición.",
        "La question porte sur la période {0} et la requête n'a pas de condition sur elle.",
    ),
    "other period": (
        "The question asks for {0}, and the statement reads another period.",
        "Die Frage gilt dem Zeitraum {0}, die Abfrage liest einen anderen.",
        "La pregunta pide el período {0} y la consulta lee otro.",
        "La question porte sur la période {0} et la requête en lit une autre.",
    ),
    "longer period": (
        "The question asks for {0}, and the statement reads a longer period.",
        "Die Frage gilt dem Zeitraum {0}, die Abfrage liest einen längeren.",
        "La pregunta pide el período {0} y la consulta lee uno más largo.",
        "La question porte sur la période {0} et la requête en lit une plus longue.",
    ),
    "unheeded instructions": (
        "The built-in writer does not follow instructions ({0}); a model would.",
        "Ohne Sprachmodell befolgt KAI keine Anweisungen ({0}); ein Modell täte es.",
        "El redactor integrado no sigue instrucciones ({0}); un modelo sí.",
        "Le rédacteur intégré ne suit pas les instructions ({0})\u00a0; un modèle le ferait.",
    ),
    "unheeded terms": (
        "The built-in writer does not follow the glossary ({0}); a model would.",
        "Ohne Sprachmodell befolgt KAI das Glossar nicht ({0}); ein Modell täte es.",
        "El redactor integrado no sigue el glosario ({0}); un modelo sí.",
        "Le rédacteur intégré ne suit pas le glossaire ({0})\u00a0; un modèle le ferait.",
    ),
    "unheeded instructions and terms": (
        "The built-in writer does not follow instructions ({0}) or the glossary ({1}); a model would.",
        "Ohne Sprachmodell befolgt KAI weder Anweisungen ({0}) noch das Glossar ({1}); ein Modell täte es.",
        "El redactor integrado no sigue instrucciones ({0}) ni el glosario ({1}); un modelo sí.",
        (
            "Le rédacteur intégré ne suit ni les instructions ({0}) ni le glossaire ({1})\u00a0; un modèle "
            "le ferait."
        ),
    ),
    "and more": ("{0} and {1} more", "{0} und {1} weitere", "{0} y {1} más", "{0} et {1} de plus"),
    "time since": ("the time since {0}", "seit {0}", "desde {0}", "depuis {0}"),
    "time after": ("the time after {0}", "nach {0}", "después de {0}", "après {0}"),
    "time before": ("the time before {0}", "vor {0}", "antes de {0}", "avant {0}"),
    "time until": ("the time until {0}", "bis {0}", "hasta {0}", "jusqu'à {0}"),
    "null column": (
        "Every value of “{0}” is null.",
        "Alle Werte von „{0}“ fehlen (NULL).",
        "Todos los valores de «{0}» son nulos.",
        "Toutes les valeurs de «\u00a0{0}\u00a0» sont nulles.",
    ),
    "quoted": ("“{0}”", "„{0}“", "«{0}»", "«\u00a0{0}\u00a0»"),
    "quoted before": ("“{0}”, {1}", "„{0}“, {1}", "«{0}», {1}", "«\u00a0{0}\u00a0», {1}"),
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


def text(language: Language, name: str, *values: str | int | WarningPhrase) -> str:
    """Returns the sentence; numbers have the language's mark of thousands."""
    written = [_written(language, each) for each in values]
    return TEXTS[name][LANGUAGES.index(language)].format(*written)


def _written(language: Language, value: str | int | WarningPhrase) -> str:
    if isinstance(value, WarningPhrase):
        return text(language, value.name, *value.values)
    return f"{value:,}".replace(",", _THOUSANDS[language]) if isinstance(value, int) else value
