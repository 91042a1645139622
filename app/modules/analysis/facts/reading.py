"""The gate of readings: sentences of a model that stand beside the program's statements.

A reading may explain. It has no figure, no name of the rows and no word of meaning, so nothing in it can be
untrue of a result.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

from app.core.words import without_accents
from app.modules.analysis.words import word_set
from graph.state import Rows

_NUMBER_WORDS = word_set("""
zero cero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand
thousands million millions billion billions dozen dozens half halves halved third thirds quarter quarters
double doubles doubled triple tripled twice thrice twofold threefold percent percentage percentages single
first second zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn zwanzig dreissig
vierzig funfzig sechzig siebzig achtzig neunzig hundert tausend tausende millionen milliarde milliarden
dutzend halb halbe halfte halbiert drittel viertel funftel doppelt doppelte doppelten verdoppelt verdoppelte
dreifach dreifache verdreifacht zweimal dreimal prozent prozentpunkte erste ersten erster zweite zweiten
einzige einziger dos tres cuatro cinco seis siete ocho nueve diez once doce trece quince veinte treinta
cuarenta cincuenta sesenta setenta ochenta noventa cien ciento cientos mil miles millon millones docena
mitad tercio tercios cuarto doble dobles duplico duplicado porcentaje primero primera segundo segunda unico
unica deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt trente
quarante cinquante soixante cent cents mille milliard milliards douzaine moitie tiers quart quarts doublees
pourcent pourcentage premier premiere deuxieme seconde unique seul seule
""")
_MEANING_WORDS = word_set("""
high higher highest top best leading leads lead led leader leaders large larger largest big bigger biggest
great greater greatest max maximum peak peaks peaked strong stronger strongest record dominant dominates
dominated ahead outperform outperforms outperformed exceeds exceeded exceed above low lower lowest bottom
worst least less lesser small smaller smallest min minimum trough weak weaker weakest fewest fewer few
behind below under underperforms underperformed total totals totaling overall sum sums altogether combined
together average averages averaged mean median typical typically usual usually rose rise rises rising risen
grew grow grows growing grown growth increase increases increased increasing gain gains gained up upward
upwards climbed climbs jumped jumps surged surges soared improved improves improving improvement expanded
recovered recovers recovery accelerated fell fall falls falling fallen drop drops dropped dropping decline
declines declined declining decrease decreases decreased decreasing shrank shrinks shrunk down downward
downwards lost lose loses loss losses dipped slumped worsened worsens plunged collapsed reduced reduction
cut slowed contracted same equal equals equally identical unchanged stable steady constant flat similar
alike differs differ different difference differences unlike changed change changes changing moved share
shares proportion proportions portion majority minority part most mostly mainly rank ranks ranked ranking
rankings more many much several all every each everything everyone none nothing never always only no
any both entire entirely whole trend trends trending seasonal hoch hoher hohe hohen hochste hochsten
hochster hochstes spitze spitzenreiter beste besten bester fuhrt fuhrend fuhrende grosser grosse grossen
grosste grossten grosstes starker starkste starksten rekord uber niedrig niedriger niedrigste niedrigsten
geringer geringste geringsten weniger wenigsten wenige klein kleiner kleinste kleinsten schwacher schwachste
schwachsten schlechteste schlechtesten unter gesamt gesamte insgesamt summe summen zusammen gesamtheit
durchschnitt durchschnittlich durchschnittliche mittel mittelwert mittlere typisch stieg stiegen steigt
steigen gestiegen anstieg wuchs wachst wachsen gewachsen wachstum zunahme zugenommen nahm nahmen erhohte
erhoht erhohung gewann gewonnen verbessert verbesserte aufwarts fiel fielen fallt gefallen sank sanken sinkt
sinken gesunken ruckgang abnahme abgenommen verlor verloren verlust verluste schrumpfte abwarts
verschlechtert verringert gesenkt senkung gleich gleiche gleichen gleicher identisch unverandert stabil
konstant ahnlich unterschied unterschiede unterscheidet verandert veranderte veranderung anderte geandert
anteil anteile teil mehrheit minderheit meist meiste meisten hauptsachlich rang rangfolge platz reihenfolge
vorn vorne mehr viel viele mehrere vielen alle allen aller alles jede jeder jedes jeden keine keiner kein
nichts niemand nie immer nur beide beiden ganz alto alta altos altas mayor mayores maximo maxima mejor
mejores lider lideres lidera superior supera supero encima bajo baja bajos bajas menor menores minimo minima
peor peores inferior debajo menos poco poca pocos pocas totales suma sumas conjunto juntos promedio media
medio mediana tipico subio sube suben subido crecio crece crecen crecido crecimiento aumento aumenta
aumentan aumentado incremento gano ganado mejoro mejora cayo cae caen caido caida descendio descenso
disminuyo disminucion bajado perdio pierde perdida perdidas redujo reduccion empeoro mismo misma mismos
mismas igual iguales identico estable constante similares diferencia diferencias diferente cambio cambia
cambiado cuota proporcion parte mayoria minoria puesto posicion mas mucho mucha muchos muchas varios varias
todo toda todos todas cada ningun ninguna ninguno nada nadie nunca siempre solo ambos ambas tendencia haut
haute hauts hautes plus eleve elevee eleves elevees meilleur meilleure meilleurs tete domine depasse
superieur superieure grand grande grands grandes dessus bas basse moindre moins faible faibles pire
inferieur inferieure petit petite petits petites dessous peu totale somme sommes ensemble moyenne moyennes
moyen mediane typique augmente augmentent augmentation hausse croissance croit grimpe progresse progression
gagne ameliore amelioration baisse baissent chute chutent diminue diminution recul recule perdu perd perte
pertes reduit empire meme memes egal egale egaux egales identique similaire ecart changement parts majorite
minorite plupart beaucoup plusieurs nombreux tout toute tous toutes chaque chacun aucun aucune rien personne
jamais toujours seulement tendance
""")
_MONTHS = word_set("""
january february april june july august september october november december januar februar marz juni juli
oktober dezember enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
janvier fevrier avril juin juillet aout septembre octobre novembre decembre monday tuesday wednesday
thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes
miercoles jueves viernes sabado domingo lundi mardi mercredi jeudi vendredi samedi dimanche
""")
_MONTHS_THAT_ARE_WORDS = {"may", "march", "mars", "mai"}
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\w+")
_MOST_LABEL_WORDS = 12
_NAME_WORDS = 5
"""A cell of more words is a text: its single words are no names."""
_SHORT = 3
"""Letters of labels that count only in their own case: `IN`, `A`."""


def _folded(text: str) -> str:
    return without_accents(text.casefold().replace("ß", "ss"))


_ANY_PERSON = "body"
"""End of the English words that speak of all or of none."""


class ReadingGate:
    """Judges sentences of a model by the labels of all results that it has read."""

    def __init__(self, results: Sequence[Rows], names: Collection[str] = ()) -> None:
        """`names` are those of tables and columns: they may be said, also where a label is spelled alike."""
        self._names = {_folded(name) for name in names}
        self._labels: set[str] = set()
        self._short: set[str] = set()
        self._parts: set[str] = set()
        self._longest = 1
        for text in _texts(results):
            self._add(text)

    def _add(self, label: str) -> None:
        words = _words(label)
        if not words or len(words) > _MOST_LABEL_WORDS:
            return
        folded = " ".join(map(_folded, words))
        if len(folded) <= _SHORT:
            self._short.add(" ".join(words))
            return
        if folded in self._names:
            return
        self._labels.add(folded)
        self._longest = max(self._longest, len(words))
        if len(words) <= _NAME_WORDS:
            self._parts |= {_folded(each) for each in words if each[0].isupper() and len(each) > _SHORT}

    def fault(self, sentence: str) -> str | None:
        """Returns what a sentence has that may not be shown. None if it may."""
        bare = self._without_names(sentence)
        if "%" in bare or any(each.isnumeric() for each in bare):
            return "a figure"
        words = _words(bare)
        folded = [_folded(each) for each in words]
        if any(each in _NUMBER_WORDS for each in folded):
            return "a number in words"
        if any(_is_month(word, at) for at, word in enumerate(words)):
            return "a period"
        if self._has_label(words, folded):
            return "a name of the rows"
        if any(each in _MEANING_WORDS or each.endswith(_ANY_PERSON) for each in folded):
            return "a word that compares"
        if any(each.isalpha() and not unicodedata.name(each, "").startswith("LATIN") for each in bare):
            return "letters that are not Latin"
        return None

    def _without_names(self, sentence: str) -> str:
        """Returns the sentence without the names of tables and columns that are no ordinary words."""

        def left(found: re.Match[str]) -> str:
            quoted = found[0].startswith("`")
            parts = [_folded(each) for each in re.findall(r"\w+", found[0])]
            is_name = all(each in self._names for each in parts) and (quoted or "_" in found[0])
            return " " if is_name else found[0]

        return re.sub(r"`[^`\n]+`|\w+(?:\.\w+)*", left, sentence)

    def _has_label(self, words: Sequence[str], folded: Sequence[str]) -> bool:
        if any(word in self._short for at, word in enumerate(words) if at > 0):
            return True
        if any(word[0].isupper() and each in self._parts for word, each in zip(words, folded, strict=True)):
            return True
        count = len(folded)
        for size in range(1, min(self._longest, count) + 1):
            for at in range(count - size + 1):
                run = " ".join(folded[at : at + size])
                if any(each in self._labels for each in (run, run.removesuffix("s"), f"{run}s")):
                    return True
        return False


def _texts(results: Sequence[Rows]) -> Iterator[str]:
    """Yields each text of the cells once."""
    seen: set[str] = set()
    for rows in results:
        for row in rows["rows"]:
            for cell in row:
                if isinstance(cell, str) and cell not in seen:
                    seen.add(cell)
                    yield cell


def _words(text: str) -> list[str]:
    """Returns the words; a possessive is no part of one."""
    return [each.split("'")[0] for each in _WORD.findall(text.replace("’", "'"))]


def _is_month(word: str, at: int) -> bool:
    folded = _folded(word)
    if folded in _MONTHS_THAT_ARE_WORDS:
        return word[0].isupper() and at > 0
    return folded in _MONTHS
