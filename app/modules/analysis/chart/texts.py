"""The sentences and words of pictures, in each language of answers."""

from collections.abc import Mapping

from app.core.language import Language

_TEXTS: Mapping[str, tuple[str, str, str, str]] = {
    # English, German, Spanish, French
    "by": ("{0} by {1}", "{0} nach {1}", "{0} por {1}", "{0} par {1}"),
    "against": ("{0} against {1}", "{0} gegen {1}", "{0} frente a {1}", "{0} en fonction de {1}"),
    "how many": ("Distribution of {0}", "Verteilung von {0}", "Distribución de {0}", "Répartition de {0}"),
    "line": ("Line chart", "Liniendiagramm", "Gráfico de líneas", "Graphique en courbes"),
    "bar": ("Bar chart", "Balkendiagramm", "Gráfico de barras", "Graphique en barres"),
    "arc": ("Pie chart", "Kreisdiagramm", "Gráfico circular", "Graphique circulaire"),
    "heat": ("Heat map", "Heatmap", "Mapa de calor", "Carte de chaleur"),
    "map": ("Map", "Karte", "Mapa", "Carte"),
    "histogram": ("Histogram", "Histogramm", "Histograma", "Histogramme"),
    "point": ("Scatter plot", "Streudiagramm", "Gráfico de dispersión", "Nuage de points"),
    "combo": ("Line charts", "Liniendiagramme", "Gráficos de líneas", "Graphiques en courbes"),
    "from to": ("from {0} to {1}", "von {0} bis {1}", "de {0} a {1}", "de {0} à {1}"),
    "extremes": (
        "Highest {0} at {1}, lowest {2} at {3}.",
        "Höchster Wert {0} bei {1}, niedrigster {2} bei {3}.",
        "Máximo {0} en {1}, mínimo {2} en {3}.",
        "Maximum {0} pour {1}, minimum {2} pour {3}.",
    ),
    "no rows": ("no rows", "keine Zeilen", "sin filas", "aucune ligne"),
    "gaps": ("No rows: {0}.", "Keine Zeilen: {0}.", "Sin filas: {0}.", "Aucune ligne : {0}."),
    "sparse": (
        "{0} of {1} periods have rows.",
        "{0} von {1} Zeiträumen haben Zeilen.",
        "{0} de {1} periodos tienen filas.",
        "{0} périodes sur {1} ont des lignes.",
    ),
    "gaps of": (
        "{0} has no value: {1}.",
        "{0} ohne Wert: {1}.",
        "{0} sin valor: {1}.",
        "{0} sans valeur : {1}.",
    ),
    "no value": ("no value", "kein Wert", "sin valor", "aucune valeur"),
    "empty": ("No value: {0}.", "Kein Wert: {0}.", "Sin valor: {0}.", "Aucune valeur : {0}."),
    "so far": ("{0} so far", "{0} bisher", "{0} hasta ahora", "{0} à ce jour"),
    "from": ("from {0}", "ab {0}", "desde {0}", "à partir du {0}"),
    "to": ("to {0}", "bis {0}", "hasta {0}", "jusqu'au {0}"),
    "begins": (
        "{0} has data from {1} on only.",
        "{0} hat erst ab {1} Daten.",
        "{0} solo tiene datos desde {1}.",
        "{0} n'a des données qu'à partir du {1}.",
    ),
    "ends": (
        "{0} has data up to {1} only.",
        "{0} hat nur bis {1} Daten.",
        "{0} solo tiene datos hasta {1}.",
        "{0} n'a des données que jusqu'au {1}.",
    ),
    "running": (
        "{0} is not over: its data goes up to {1}.",
        "{0} ist nicht zu Ende: die Daten reichen bis {1}.",
        "{0} no ha terminado: sus datos llegan hasta {1}.",
        "{0} n'est pas terminé : ses données vont jusqu'au {1}.",
    ),
    "not over": (
        "{0} is not over.",
        "{0} ist nicht zu Ende.",
        "{0} no ha terminado.",
        "{0} n'est pas terminé.",
    ),
    "in part": (
        "{0} is covered in part only.",
        "{0} ist nur zum Teil erfasst.",
        "{0} solo tiene datos de una parte.",
        "{0} n'a des données qu'en partie.",
    ),
    "more": (
        "{0} more, together {1}, {2} of {3}.",
        "{0} weitere, zusammen {1}, {2} von {3}.",
        "{0} más, en conjunto {1}, {2} de {3}.",
        "{0} de plus, ensemble {1}, {2} de {3}.",
    ),
    "more of rows": (
        "{0} more, together {1}.",
        "{0} weitere, zusammen {1}.",
        "{0} más, en conjunto {1}.",
        "{0} de plus, ensemble {1}.",
    ),
    "left": (
        "{0} more are left out, as values of {1} cannot be added up.",
        "{0} weitere fehlen, da Werte von {1} nicht addiert werden können.",
        "Se omiten {0} más, ya que los valores de {1} no se pueden sumar.",
        "{0} de plus sont omis, car les valeurs de {1} ne s'additionnent pas.",
    ),
    "highest": (
        "Of {0}, the {1} with the highest {2} are shown.",
        "Von {0} sind die {1} mit dem höchsten Wert von {2} gezeigt.",
        "De {0}, se muestran los {1} con mayor {2}.",
        "Sur {0}, les {1} avec la valeur la plus élevée de {2} sont montrés.",
    ),
    "lowest": (
        "Of {0}, the {1} with the lowest {2} are shown.",
        "Von {0} sind die {1} mit dem niedrigsten Wert von {2} gezeigt.",
        "De {0}, se muestran los {1} con menor {2}.",
        "Sur {0}, les {1} avec la valeur la plus basse de {2} sont montrés.",
    ),
    "first": (
        "Of {0}, the first {1} are shown.",
        "Von {0} sind die ersten {1} gezeigt.",
        "De {0}, se muestran los primeros {1}.",
        "Sur {0}, les {1} premiers sont montrés.",
    ),
    "tied": (
        "{0} of those left out have the same value as the last one shown: {1}.",
        "{0} der fehlenden haben denselben Wert wie der letzte gezeigte: {1}.",
        "{0} de los omitidos tienen el mismo valor que el último mostrado: {1}.",
        "{0} des omis ont la même valeur que le dernier montré : {1}.",
    ),
    "coloured": (
        "Of {0} series, the {1} with the {4} {2} have a colour; the other {3} are grey.",
        "Von {0} Reihen sind die {1} mit dem {4} Wert von {2} farbig; die anderen {3} sind grau.",
        "De {0} series, las {1} con {4} {2} tienen color; las otras {3} son grises.",
        "Sur {0} séries, les {1} avec la valeur {4} de {2} sont en couleur ; les {3} autres sont grises.",
    ),
    "end highest": ("highest", "höchsten", "mayor", "la plus élevée"),
    "end lowest": ("lowest", "niedrigsten", "menor", "la plus basse"),
    "added up": (
        "Rows with the same {0} are added up.",
        "Zeilen mit gleichem Wert von {0} sind addiert.",
        "Las filas con igual {0} se suman.",
        "Les lignes de même {0} sont additionnées.",
    ),
    "numbered": (
        "Rows with the same {0} are numbered.",
        "Zeilen mit gleichem Wert von {0} sind nummeriert.",
        "Las filas con igual {0} se numeran.",
        "Les lignes de même {0} sont numérotées.",
    ),
    "without time": (
        "Rows without a {1}: {0}. They are left out.",
        "Zeilen ohne {1}: {0}. Sie fehlen.",
        "Filas sin {1}: {0}. Se omiten.",
        "Lignes sans {1} : {0}. Elles sont omises.",
    ),
    "without value": (
        "Rows without a value of {1}: {0}. They are left out.",
        "Zeilen ohne Wert von {1}: {0}. Sie fehlen.",
        "Filas sin valor de {1}: {0}. Se omiten.",
        "Lignes sans valeur de {1} : {0}. Elles sont omises.",
    ),
    "coarser": (
        "Each point adds up one {0} of {1} {2}s.",
        "Jeder Punkt addiert die Werte von {1} Zeiträumen ({2}) je {0}.",
        "Cada punto suma, por {0}, los valores de {1} periodos ({2}).",
        "Chaque point additionne, par {0}, les valeurs de {1} périodes ({2}).",
    ),
    "unit hour": ("hour", "Stunde", "hora", "heure"),
    "unit day": ("day", "Tag", "día", "jour"),
    "unit week": ("week", "Woche", "semana", "semaine"),
    "unit month": ("month", "Monat", "mes", "mois"),
    "unit quarter": ("quarter", "Quartal", "trimestre", "trimestre"),
    "unit year": ("year", "Jahr", "año", "année"),
    "thinned": (
        "Of {0} points, the lowest and highest of each {1} are shown: {2} cannot be added up over time.",
        "Von {0} Punkten sind der niedrigste und höchste von je {1} gezeigt: {2} lässt sich nicht addieren.",
        "De {0} puntos, se muestran el menor y el mayor de cada {1}: {2} no se puede sumar en el tiempo.",
        "Sur {0} points, le plus bas et le plus haut de chaque {1} sont montrés : {2} ne s'additionne pas.",
    ),
    "bins": (
        "{0} values in {1} bins of equal width; the line is the median, {2}.",
        "{0} Werte in {1} gleich breiten Klassen; die Linie ist der Median, {2}.",
        "{0} valores en {1} intervalos iguales; la línea es la mediana, {2}.",
        "{0} valeurs en {1} classes égales ; la ligne est la médiane, {2}.",
    ),
    "hexagons": (
        "{0} points are counted in hexagons: the darker, the more.",
        "{0} Punkte sind in Sechsecken gezählt: je kräftiger, desto mehr.",
        "{0} puntos se cuentan en hexágonos: cuanto más intenso, más puntos.",
        "{0} points sont comptés dans des hexagones : plus c'est soutenu, plus il y en a.",
    ),
    "sized": (
        "The area of a point is {0}.",
        "Die Fläche eines Punktes ist {0}.",
        "El área de un punto es {0}.",
        "La surface d'un point est {0}.",
    ),
    "median": ("median {0}", "Median {0}", "mediana {0}", "médiane {0}"),
    "rows": ("rows", "Zeilen", "filas", "lignes"),
    "no adding": (
        "Bars, as values of {0} cannot be added up.",
        "Balken, da Werte von {0} nicht addiert werden können.",
        "Barras, ya que los valores de {0} no se pueden sumar.",
        "Barres, car les valeurs de {0} ne s'additionnent pas.",
    ),
    "no parts": (
        "Bars, as not all values of {0} are above zero.",
        "Balken, da nicht alle Werte von {0} über null liegen.",
        "Barras, ya que no todos los valores de {0} son mayores que cero.",
        "Barres, car les valeurs de {0} ne sont pas toutes au-dessus de zéro.",
    ),
    "many parts": (
        "Bars, as values of {0} have more parts than colours can tell apart.",
        "Balken, da {0} mehr Teile hat, als Farben unterscheiden können.",
        "Barras, ya que {0} tiene más partes de las que los colores distinguen.",
        "Barres, car {0} a plus de parts que les couleurs n'en distinguent.",
    ),
    "no zero": (
        "The axis of {0} does not begin at zero.",
        "Die Achse von {0} beginnt nicht bei null.",
        "El eje de {0} no empieza en cero.",
        "L'axe de {0} ne commence pas à zéro.",
    ),
    "only in the table": (
        "Only in the table: {0}.",
        "Nur in der Tabelle: {0}.",
        "Solo en la tabla: {0}.",
        "Seulement dans le tableau : {0}.",
    ),
    "gone": (
        "Made of the first {0} of {1} rows; the others are no longer stored.",
        "Aus den ersten {0} von {1} Zeilen; die anderen sind nicht mehr gespeichert.",
        "Hecho con las primeras {0} de {1} filas; las demás ya no se guardan.",
        "Établi sur les {0} premières lignes de {1} ; les autres ne sont plus conservées.",
    ),
}
_PLACES: Mapping[Language, int] = {"en": 0, "de": 1, "es": 2, "fr": 3}


def text(language: Language, key: str, *values: object) -> str:
    return _TEXTS[key][_PLACES[language]].format(*values)
