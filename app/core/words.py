"""Words in one form, so that two spellings of one word meet."""

import re
import unicodedata

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_TO_TWENTY = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
NUMBER_WORDS = {word: number for number, word in enumerate(_TO_TWENTY.split(), start=1)}

_PLURALS = {"person": "people", "child": "children", "man": "men", "woman": "women", "staff": "staff"}


def split_identifier(text: str) -> str:
    """`InvoiceLines` as two words with a space between them."""
    return _BOUNDARY.sub(" ", text)


def without_accents(text: str) -> str:
    """Letters without their marks; compatibility forms, such as a ligature, as plain letters."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def singular(word: str) -> str:
    """A guess at the singular of a lower-case word, the same for a word and its plural where it is wrong."""
    if len(word) > 4 and word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses", "tzes")):
        return word.removesuffix("es")
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word.removesuffix("s")
    return word


def plural(words: str) -> str:
    """A guess at the plural of lower-case words; words that end in a plural stay as they are."""
    *_, last = words.split() or [""]
    if singular(last) != last or last in _PLURALS.values():
        return words
    if last in _PLURALS:
        return words.removesuffix(last) + _PLURALS[last]
    if words.endswith(("s", "x", "ch", "sh")):
        return f"{words}es"
    return f"{words[:-1]}ies" if words.endswith("y") and words[-2:-1] not in "aeiou" else f"{words}s"
