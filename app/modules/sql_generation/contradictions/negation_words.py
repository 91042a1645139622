"""Words of negation in English, German, Spanish and French, as patterns.

They are read in questions whatever the language of these: none of them means something else in another one,
where that matters. All are in the lower case of `str.casefold`, which writes ß as ss.
"""

import re


def _any_of(*patterns: str) -> str:
    return "|".join(patterns)


_WITHOUT_WORK = "duplic|duplik|dopp|doubl|repet|répét|wiederhol|order|ordn|orden|sort|tri|limit|límit|group"
"""Beginnings of what a list may be shown without."""
_WITHOUT_TAX = (
    r"mwst|(?:umsatz|mehrwert)steuer|steuern?|versand\w*|rabatt\w*|iva|impuestos?|descuentos?|tva|tax(?:es)?|remises?|vat|shipping"
    """What an amount may be counted without."""
)

IDIOMS = re.compile(
    _any_of(
        r"\b(?:no|not) (?:more|less|fewer|later|earlier|longer|older|matter|only|necessarily)\b",
        r"\bwhether or not\b|\bor not\b|\bif not\b|\bwhy not\b|\bnot sure\b|\bno idea\b|\bno\.",
        r"\bnot counting\b|\bif there (?:is|are) no\b",
        r"\b(?:do not|don't) (?:show|list|include|count|care|know|need|worry|forget|want)\b",
        r"\bnot null\b|\bno duplicates?\b|\bwithout duplicates?\b|\bplease\b.*\bnot\b|\bdo not have to\b",
        r"\bwithout (?:repetition|repeating|ordering|sorting|limit|grouping|rounding)\w*",
        rf"\b(?:ohne|sin|sans) (?:{_WITHOUT_WORK}|agrup|redonde|arrond|rund|grupp)\w*",
        rf"\b(?:without|ohne|sin|sans) (?:{_WITHOUT_TAX})\b",
        # German
        r"\bnicht (?:mehr|weniger|nur|länger|später|früher|älter|unbedingt|sicher|null|vergessen)\b",
        r"\b(?:oder|ob|falls|wenn|warum) nicht\b|\bkeine? (?:ahnung|dupli\w+|dopp\w+)",
        r"\bkein\w* (?:mehr|weniger) als\b",
        r"\bnicht (?:zeig|anzeig|auflist|mitzähl|zähl|berücksichtig)\w*",
        # Spanish
        r"\bno (?:más|menos|solo|sólo|solamente|importa|obstante|necesariamente|nul[oa]s?)\b|\bsin embargo\b",
        r"\b(?:o|si|porqué|por qué) no\b|\bno (?:muestres|incluyas|listes|cuentes|olvides|hace falta)\b",
        # French
        r"\bpas (?:plus|moins|seulement|uniquement|forcément|nécessairement)\b|\bou (?:non|pas)\b",
        r"\bpourquoi pas\b|\bnon nul\w*|\bn(?:e |')(?:montre|liste|compte|affiche|oublie)\w* pas\b",
    )
)
"""Words of negation that exclude nothing."""

ABSENCE = re.compile(
    _any_of(
        r"\b(?:never|without|no|lacks?|lacking|(?:do|does|did|has|have|had|was|were|is|are)(?: not"
        r"|n't)(?: \w+)? "
        r"(?:have|has|had|order|ordered|buy|bought|get|got|receive|received|make|made|own|any|a|an)|neither"
        r"|except for|not (?:\w+ )?\w+(?:ed|ing|en|ght))\b"
        r"(?! (?:the|more|less|fewer|at|as|over|under|exactly"
        r"|ha|han|hay|son|es|est[aá]n?|tienen?|se|me)\b)",  # behind a Spanish `no`
        r"\b(?:ohne|nie|niemals|kein(?:e[mnrs]?)?|weder)\b(?! (?:de[mnr]|die|das|mehr|weniger)\b)",
        r"\bnicht (?:\w+ )?(?:(?:ge|be|ver|er)\w+(?:t|en)|haben|hatten?|besitz\w+)\b",
        r"\b(?:sin|nunca|jamás|ning[uú]n(?:[oa]s?)?|carecen?)\b(?! (?:el|la|los|las|más|menos)\b)",
        r"\bno (?:se )?(?:ha|han|hayan?|había[n]?|tienen?|tengan?|tenían?|hicieron|hizo|compr\w+|pid\w+"
        r"|recib\w+|vend\w+)\b(?! (?:más|menos)\b)",
        r"\b(?:sans|aucune?s?|jamais)\b(?! (?:l[ae]s?|plus|moins)\b)",
        r"\bn(?:e |')(?:\w+ )?\w+ (?:\w+ )?pas\b(?! (?:plus|moins)\b)",
    )
)
"""What is asked for is missing."""

_BEING = r"(?:son|es|sea[n]?|est[aá]n?|viven?|vienen?)"
NOT = (
    r"(?:not|except(?: for)?|excluding|other than|apart from|besides|but not|isn't|aren't|wasn't"
    r"|weren't|don't|doesn't|didn't"
    r"|nicht|ausser|ausgenommen|abgesehen von|mit ausnahme von"
    rf"|no {_BEING}|no(?= (?:en|de|del) )|excepto|salvo|aparte de|menos"
    r"|pas|sauf|hormis|excepté|hors de|à part)"
)
"""What follows within a few words is excluded."""

NOT_YET = rf"(?:not|isn't|aren't|wasn't|weren't|nicht|no {_BEING}|pas)(?: yet| noch| encore)?"
"""What follows at once is not so."""

ANY = re.compile(
    rf"\b(?:{NOT}|never|no|no(?:ne|body)|nor|neither|without|lack\w*|miss\w*|outside|other|others"
    r"|different|differ|rest|remaining|non|un\w+|in(?:active|valid|complete)\w*|empty|null|exclude\w*"
    r"|exclusive\w*|ignor\w*|omit\w*|remove\w*|but|instead|only|excl|minus|less|foreign|abroad|beyond|rather"
    r"|yet|still|stop\w*|lost|left|churn\w*|fail\w*|cannot|can't)\b"
    r"|n't\b|non-|\b(?:"
    + _any_of(
        r"nie|niemals|kein\w*|ohne|weder|ausser\w*|ausgeschl\w+|ausschl\w+|ander\w+|übrig\w*|restlich\w*|fehl\w*"
        r"|leer\w*|inaktiv\w*|nur|sondern|statt|weniger|abzüglich|ausland\w*|ausländ\w*|noch|verlor\w+|entfern\w*",
        r"nunca|jamás|ning[uú]n\w*|ni|sin|otr[oa]s?|resto|demás|distint\w+|diferent\w+|fuera|falt\w+|vací\w+"
        r"|nul[oa]s?|s[oó]lo|solamente|únicamente|pero|sino|exclu\w*|omit\w*|quit\w+|extranjer\w+|inactiv\w+"
        r"|todavía|aún|perdid\w+",
        r"ne|jamais|aucun\w*|sans|hors|autres?|reste|restant\w*|différent\w*|manqu\w+|vides?|seul\w*|mais"
        r"|uniquement|étrang\w+|inacti\w+|encore|toujours|omet\w+|perdus?",
    )
    + r")\b|\bn'"
)
"""A question with one of these may exclude something."""
