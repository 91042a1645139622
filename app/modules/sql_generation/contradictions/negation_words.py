"""Words of negation in four languages, as patterns: `negation_words.toml` describes them."""

import re
import tomllib
from pathlib import Path

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

NOT: str = _WORDS["not"]
NOT_YET: str = _WORDS["not_yet"]
IDIOMS = re.compile("|".join(_WORDS["idioms"]).replace("WORK", _WORDS["work"]).replace("TAX", _WORDS["tax"]))
ABSENCE = re.compile("|".join(_WORDS["absence"]))
ANY = re.compile(_WORDS["any"].replace("NOT", NOT))
