"""Patterns for the words, in English and German, that tell the meaning of a number or a comparison."""

import re


def _any(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})", re.IGNORECASE)


MEAN = _any(
    r"averag\w*|mean\b|avg|\w*durchschnitt\w*|(?:im )?schnitt\b|(?:im )?mittel\b|"
    r"mittelwert|typical\w*|on average"
)
MEDIAN = _any(r"median\w*|zentralwert")
TOTAL = _any(
    r"annual|yearly|full[- ]year|jahres\w*|total\w*|sums?\b|combined|together|"
    r"overall|altogether|cumulative\w*|"
    r"collectively|jointly|in all\b|across (?:all|the|both)|insgesamt|"
    r"gesamt\w*|zusammen\w*|summe\w*|adds? up|add(?:ing|ed) up|aggregat\w+|entire|"
    r"whole|all (?:of )?(?:the )?\w+ (?:combined|together)|grand"
)
JOINT = _any(
    r"combined|together|collectively|jointly|zusammen\w*|in total|both|sum(?:s|"
    r"med)?\b|insgesamt|account|contribut|make up|gemeinsam|total(?:ing|ling|s|led|"
    r"ed)?\b"
)
MOST = _any(
    r"high(?:est|s? of)|largest|biggest|greatest|peak\w*|max(?:imum|imal)?\b|"
    r"most\b(?! of)|top\b|tops\b|best\b|record|höchst\w*|größt\w*|spitze\w*|"
    r"maxim\w+|meist\w*|leader\b|leading|lead(?:s|ing)?\b|no\. ?1|number one|winner|"
    r"strongest|heaviest|longest|priciest|costliest|upper"
)
LEAST = _any(
    r"low(?:est|s? of|-?point)|smallest|min(?:imum|imal)?\b|least\b(?<!at least)|"
    r"fewest|trough\w*|bottom\w*|weakest|worst|niedrigst\w*|kleinst\w*|geringst\w*|"
    r"tiefst\w*|tiefpunkt|wenigst\w*|schwächst\w*|cheapest|shortest|lower end|last place"
)
SINGLE = _any(
    r"peak\w*|max(?:imum)?\b|min(?:imum)?\b|record|single|monthly|daily|weekly|"
    r"yearly|annual|quarterly|rang\w+|between|individual|"
    r"high(?:s|est)? of|lows? of|trough|bottomed|month|day|week|best (?:month|day|"
    r"year|quarter)|monat\w*|tag\w*|reich\w+|zwischen|started|ended|began|"
    r"opened|closed|from|up to|höchstwert|spitzenwert|tiefst\w*|latest|first|last|"
    r"row|entry|order|invoice|once|one"
)
DIFFERENCE = _any(
    r"by\b|more\b|less\b|fewer\b|gaps?\b|differ\w*|lead(?:s|ing)?\b|ahead|behind|"
    r"margins?\b|trail\w*|increas\w*|decreas\w*|growth|grew|rise\b|rising|fall\b|"
    r"rose|fell|gain\w*|loss|lost|drop\w*|declin\w*|up\b|down\b|chang\w*|mehr\b|"
    r"weniger\b|differenz\w*|unterschied\w*|abstand|vorsprung|um\b|higher|lower|"
    r"additional|extra\b|zuwachs|rückgang|add(?:ed|ing)\b|swing|jump\w*|plus\b|"
    r"minus\b|below|above|exceed\w*|outperform\w*|spread|range|span\w*|apart|ahead|"
    r"shy|short"
)
SHARE = _any(
    r"shares?\b|account\w*|represent\w*|ma[kd]e?s? up|making up|contribut\w*|"
    r"portion|proportion|anteil\w*|ausmach\w*|entf[aä]ll\w*|compris\w*|constitut\w*|"
    r"of (?:the )?(?:total|all|overall|entire|whole|grand|combined|revenue|sales|"
    r"sum|\w+ total)|of (?:the |its |total |all |overall )?\w+ (?:revenue|sales|"
    r"total)|des (?:gesamt\w*|umsatzes)|der (?:gesamt\w*|\w+)|vom gesamt\w*|"
    r"concentrat\w*|responsible for|"
    r"remain\w*|rest\b|übrig\w*|restlich\w*|out of|generat\w*|deliver\w*|brought in|"
    r"captur\w*|stell\w*|trägt|macht|hold\w*|drives?\b|driving|covers?\b|comes? "
    r"from|stem\w*"
)
UP = _any(
    r"gr[eo]w(?:s|n|ing|th)?\b|ris(?:e|es|en|ing)\b|rose|increas\w*|climb\w*|"
    r"gain(?:s|ed|ing)?\b|jump\w*|surg\w*|improv\w*|expand\w*|soar\w*|upward\w*|"
    r"accelerat\w*|rebound\w*|recover\w*|uptrend|upturn|picked up|doubled|tripled|quadrupled|escalat\w*|"
    r"up (?=by\b|from\b|\d|\$|€|nearly|about|almost|roughly|more|over|sharply|slightly|steadily)|"
    r"stieg\w*|steig(?!er)\w*|gestieg\w*|wuchs\w*|wächst|wachs\w*|gewachsen\w*|"
    r"zugenommen|zunahm\w*|nahm\w* (?:\w+ ){0,3}zu\b|zuwachs\w*|anstieg\w*|erhöh\w*|"
    r"verdoppelt\w*|kletter\w*|legte\w*"
)
DOWN = _any(
    r"fall(?:s|en|ing)?\b|fell|drop(?:s|ped|ping)?\b|declin\w*|decreas\w*|"
    r"shr[aiu]nk\w*|slip(?:s|ped|ping)?\b|eas(?:e|ed|es|ing)\b|slid\w*|dip(?:s|ped|ping)?\b|plung\w*|"
    r"plummet\w*|"
    r"contract(?:ed|s|ing)\b|weaken\w*|downward\w*|downtrend|downturn|tumbl\w*|"
    r"halved|deteriorat\w*|sank|sunk|eroded|reduc\w*|"
    r"down (?=by\b|from\b|\d|\$|€|nearly|about|almost|roughly|more|over|sharply|slightly|steadily|to)|"
    r"sank\w*|sink\w*|gesunken\w*|fiel\w*|gefallen|fällt|rückgang\w*|rückgäng\w*|"
    r"zurückgegangen|ging\w* (?:\w+ ){0,3}zurück|abgenommen|nahm\w* (?:\w+ ){0,3}ab\b|"
    r"abnahm\w*|schrumpf\w*|verringert\w*|halbiert\w*|einbruch|brach\w* ein"
)
CHANGE = re.compile(
    f"{UP.pattern}|{DOWN.pattern}|"
    + _any(
        r"chang\w*|veränder\w*|year[- ]over[- ]year|yoy|month[- ]over[- ]month|mom\b|"
        r"compared|gegenüber|vs\.?|versus|than"
    ).pattern,
    re.IGNORECASE,
)
MORE_THAN = _any(
    r"(?:higher|more|greater|larger|bigger|better|longer|older|pricier|"
    r"stronger)\b(?! (?:detail|inform|recent|time))|outperform\w*|exceed\w*|ahead "
    r"of|beat(?:s|ing)?\b|surpass\w*|outsell\w*|outsold|overt(?:ook|ak\w+)|"
    r"outpac\w*|above|leads?\b(?= \w+ by)|eclips\w*|tops\b|topped|outrank\w*|mehr\b|"
    r"höher\w*|größer\w*|übertr\w+|überhol\w*|vor\b"
)
LESS_THAN = _any(
    r"(?:lower|less|fewer|smaller|worse|shorter|younger|cheaper|weaker)\b|trail(?:s|"
    r"ed|ing)?\b|behind|lag(?:s|ged|ging)?\b|below|underperform\w*|weniger\b|"
    r"niedriger\w*|kleiner\w*|geringer\w*|hinter\b|unter\b"
)
THAN = re.compile(
    r"(?:than|ahead of|behind|over|versus|vs\.?|compared (?:to|with)|after|before|"
    r"exceed\w*|above|below|beat\w*|outperform\w*|surpass\w*|trail\w*|"
    r"lag\w*|outpac\w*|outs\w+|als|vor|hinter|nach|gegenüber|überhol\w*|übertr\w+|"
    r"twice|double|times|half|relative to|from|unlike|against|of)\s+(?:the |that of "
    r"|those of |only )?$",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(?:not|n't|never|neither|nor|without|rather than|instead of|nicht|kein\w*|"
    r"nie|weder|ohne|no longer)\b",
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:(?-i:may)|might|could|would|should|if|whether|check|consider|expected|"
    r"likely|possibl\w+|suggest\w*|könnte\w*|würde\w*|sollte\w*|ob|falls|wenn)\b",
    re.IGNORECASE,
)
RESPECTIVELY = re.compile(r"\b(?:respectively|bzw\.?|beziehungsweise|jeweils)\b", re.IGNORECASE)
LIST_GLUE = re.compile(
    r"[\s,]*(?:and|und|&|or|oder|/|as well as|sowie|to|bis)?[\s,]*(?:the )?$", re.IGNORECASE
)
COUNTED_ROWS = re.compile(
    r"(?:rows?|records?|results?|entries|entry|items?|values?|lines?|zeilen?|"
    r"einträge\w*|datensätze\w*|ergebnisse?\w*|groups?|gruppen?|data ?points?|"
    r"combinations?|matches)\b",
    re.IGNORECASE,
)
EMPTY = re.compile(
    r"(?:null|empty|missing|blank|no value|without|unknown|none|fehlend\w*|leer\w*|"
    r"not (?:set|recorded|available|known)|lack\w*)",
    re.IGNORECASE,
)
SPAN_UNITS = {
    "month": "month",
    "monat": "month",
    "monate": "month",
    "monaten": "month",
    "year": "year",
    "jahr": "year",
    "jahre": "year",
    "jahren": "year",
    "quarter": "quarter",
    "quartal": "quarter",
    "quartale": "quarter",
    "quartalen": "quarter",
    "day": "day",
    "tag": "day",
    "tage": "day",
    "tagen": "day",
    "period": "",
    "week": "week",
    "woche": "week",
    "wochen": "week",
}
