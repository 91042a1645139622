"""Countries by their names in four languages and by their codes, and where they lie."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

from pydantic import BaseModel, JsonValue, TypeAdapter

from app.core.language import Language
from app.core.words import without_accents
from app.modules.analysis.localized import locale_of
from app.modules.analysis.words import title, word_set

_WORLD = Path(__file__).parent / "world.json"
_JSON: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_OF_COUNTRIES = word_set("country countries land länder laender nation staat pays país pais")
"""Words of a column's name with which two or three letters are a country's code, and no state's."""
_OTHER_NAMES = {
    "usa": "US",
    "united states of america": "US",
    "uk": "GB",
    "great britain": "GB",
    "korea": "KR",
    "republic of korea": "KR",
    "korea republic of": "KR",
    "uae": "AE",
    "iran islamic republic of": "IR",
    "bolivia plurinational state of": "BO",
    "venezuela bolivarian republic of": "VE",
    "tanzania united republic of": "TZ",
    "moldova republic of": "MD",
    "syrian arab republic": "SY",
    "viet nam": "VN",
    "russian federation": "RU",
    "czech republic": "CZ",
    "turkey": "TR",
    "turkiye": "TR",
    "ivory coast": "CI",
    "holland": "NL",
    "macedonia": "MK",
    "burma": "MM",
    "swaziland": "SZ",
    "dr congo": "CD",
    "democratic republic of the congo": "CD",
    "congo democratic republic of the": "CD",
    "republic of the congo": "CG",
}
_NO_LETTER = re.compile(r"[^\w]+")


class Box(NamedTuple):
    """Degrees of a country's largest part. West is greater than east where it crosses 180 degrees."""

    west: float
    south: float
    east: float
    north: float


class _Properties(BaseModel):
    code: str
    box: Box


class _Geometry(BaseModel):
    id: str | None = None
    properties: _Properties | None = None


class _Countries(BaseModel):
    geometries: list[_Geometry]


class _Objects(BaseModel):
    countries: _Countries


class _Topology(BaseModel):
    objects: _Objects


@cache
def read_world() -> Mapping[str, JsonValue]:
    """The shapes of all countries as TopoJSON, each with its code of two letters as `id`."""
    return _JSON.validate_json(_WORLD.read_bytes())


def codes_of(cells: Sequence[JsonValue], *, column: str) -> list[str] | None:
    """The code of two letters of each cell. None unless all of them are countries that have a shape."""
    has_codes = bool(_OF_COUNTRIES & {*title(column).split()})
    found: list[str] = []
    for cell in cells:
        text = cell.strip() if isinstance(cell, str) else ""
        code = text.upper() if text and has_codes and len(text) <= 3 else ""
        code = _codes().get(code) or _codes().get(_key(text)) or ""
        if not code:
            return None
        found.append(code)
    return found


@cache
def boxes() -> Mapping[str, Box]:
    """Where each country lies, by its code of two letters."""
    return {id_: properties.box for id_, properties in _shapes()}


@cache
def _codes() -> Mapping[str, str]:
    """Codes of two letters by codes, in capitals, and by names, in small letters."""
    known = {id_: properties.code for id_, properties in _shapes()}
    found = {name: code for name, code in _OTHER_NAMES.items() if code in known}
    for language in get_args(Language):
        named = locale_of(language).territories
        found |= {_key(named[code]): code for code in known if code in named}
    found.pop("congo", None)  # two countries are called so
    return {**found, **{long: code for code, long in known.items()}, **{code: code for code in known}}


def _shapes() -> list[tuple[str, _Properties]]:
    world = _Topology.model_validate(read_world())
    found = world.objects.countries.geometries
    return [(each.id, each.properties) for each in found if each.id and each.properties]


def _key(name: str) -> str:
    """A name in small letters without accents, signs and article."""
    plain = _NO_LETTER.sub(" ", without_accents(name).casefold().replace("&", " and ")).strip()
    return plain.removeprefix("the ")
