"""German statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

_SHARE = "[ ({share} der Gesamtsumme von {total})][ ({share} der Summe der {among} gezeigten, {shown_total})]"
_HAVE = "{leaders:the} {leaders|hat|haben}[ {scope}][ nach {by}]"
_LIE = "{leaders:the} {leaders|liegt|liegen}[ {scope}][ nach {by}] bei {measure}"
_LIE_IT = "{leaders:the} {leaders|liegt|liegen}[ {scope}] bei {measure}"
_HAVE_IT = "{leaders:the} {leaders|hat|haben}[ {scope}]"
_OVER = "[ über die {over}]"

TABLE: Mapping[str, str] = {
    # Around statements
    "reading": "Einordnung",
    "choice_missing": "Die Auswahl des Modells fehlt:",
    "own_choice": "Diese Aussagen hat KAI selbst ausgewählt.",
    "doubts": "Die Zahlen können falsch sein:",
    "changed": "Die Abfrage wurde geändert:",
    "changed.more": "{count} weitere {count|Änderung steht|Änderungen stehen} beim SQL.",
    "worth_checking": "Zu prüfen:",
    "not_followed": "Nicht befolgt:",
    # Parts of statements
    "scoped": "Für {scope}: {statement}",
    "pair": "{label} ({value})",
    "named": "{measure}: {value}",
    "label.row": "{label} (Zeile {row})",
    "label.period": "{label} ({period})",
    "scope.shown": "von den {count} gezeigten",
    "scope.named": "von den Zeilen mit Wert bei {label}",
    "scope.both": "in den {periods:dative} mit Zeilen in beiden Jahren",
    "scope.rows": "in den {count} gezeigten Zeilen",
    "scope.picked": "von den höchstens {count} zuvor ausgewählten Zeilen",
    "scope.all": "insgesamt",
    "scope.periods": "von den {periods:dative} {which}",
    "which.full": "mit vollständigen Daten",
    "which.with_values": "mit Werten",
    "which.shown": "in diesem Ergebnis",
    # Values and rankings
    "values": "{pairs}[ und {more} weitere {more|Spalte|Spalten}].",
    "values.bold": "**{pairs}**[ und {more} weitere {more|Spalte|Spalten}].",
    "values.bold.headline": "{pairs}",
    "value.of": f"{{measure}} {{label:of}}[ über die {{over}}]: {{value}}{_SHARE}.",
    "value.of.headline": "{measure} {label:of}: {value}",
    "highest": f"{_LIE}{_OVER} vorn: {{leaders||je }}{{value}}{_SHARE}.",
    "highest.headline": f"{_LIE} vorn: {{value}}",
    "lowest": f"{_HAVE} den niedrigsten Wert bei {{measure}}{_OVER}: {{leaders||je }}{{value}}{_SHARE}.",
    "lowest.headline": f"{_HAVE} den niedrigsten Wert bei {{measure}}: {{value}}",
    "most": f"{_HAVE} die meisten {{things}}{_OVER}: {{leaders||je }}{{value}}{_SHARE}.",
    "most.headline": f"{_HAVE} die meisten {{things}}: {{value}}",
    "fewest": f"{_HAVE} die wenigsten {{things}}{_OVER}: {{leaders||je }}{{value}}{_SHARE}.",
    "fewest.headline": f"{_HAVE} die wenigsten {{things}}: {{value}}",
    "second": f"{_LIE_IT}{_OVER} auf Platz zwei: {{value}}.",
    "second.headline": f"{_LIE_IT} auf Platz zwei: {{value}}",
    "second.low": f"{_HAVE_IT} den zweitniedrigsten Wert bei {{measure}}{_OVER}: {{value}}.",
    "second.low.headline": f"{_HAVE_IT} den zweitniedrigsten Wert bei {{measure}}: {{value}}",
    "second.few": f"{_HAVE_IT} die zweitwenigsten {{things}}{_OVER}: {{value}}.",
    "second.few.headline": f"{_HAVE_IT} die zweitwenigsten {{things}}: {{value}}",
    "order": "die {leaders|#|#} höchsten Werte bei {measure}[ {scope}] haben, der Reihe nach, {leaders}.",
    "order.headline": "höchste Werte bei {measure}[ {scope}]: {leaders}",
    "order.low": "die {leaders|#|#} niedrigsten Werte bei {measure}[ {scope}] haben, der Reihe nach, "
    "{leaders}.",
    "order.low.headline": "niedrigste Werte bei {measure}[ {scope}]: {leaders}",
    "next": "danach {leaders|folgt|folgen} bei {measure}[ {scope}]{leaders||, der Reihe nach,} {leaders}.",
    "gap": "{label} liegt bei {measure} um {difference} vor {other}[, {points} der Gesamtsumme].",
    "gap.headline": "{label} liegt bei {measure} um {difference} vor {other}",
    "gap.low": "{label} liegt bei {measure} um {difference} unter {other}[, {points} der Gesamtsumme].",
    "gap.low.headline": "{label} liegt bei {measure} um {difference} unter {other}",
    "leader": "{label} hat[ {scope}] bei {measures} jeweils den höchsten Wert.",
    "leader.headline": "{label} hat[ {scope}] bei {measures} jeweils den höchsten Wert",
    "same": "{leaders} haben denselben Wert bei {measure}: {value}.",
    "same.headline": "{leaders} haben denselben Wert bei {measure}: {value}",
    "same.things": "{leaders} haben gleich viele {things}: {value}.",
    "same.things.headline": "{leaders} haben gleich viele {things}: {value}",
    "same.all": f"alle [{{count}}][{{shown}} gezeigten] haben denselben Wert bei {{measure}}{_OVER}: "
    f"{{value}}.",
    "same.all.headline": "alle [{count}][{shown} gezeigten] haben denselben Wert bei {measure}: {value}",
    "same.all.things": f"alle [{{count}}][{{shown}} gezeigten] haben gleich viele {{things}}{_OVER}: "
    f"{{value}}.",
    "same.all.things.headline": "alle [{count}][{shown} gezeigten] haben gleich viele {things}: {value}",
    "same.nearly": f"alle [{{count}}][{{shown}} gezeigten] haben praktisch denselben Wert bei "
    f"{{measure}}{_OVER}: von {{low}} bis {{value}}.",
    "same.nearly.headline": "alle [{count}][{shown} gezeigten] haben praktisch denselben Wert bei {measure}",
    # All values of a measure
    "total": "die Summe von {measure}[ über die {over}][ in den gezeigten {shown:dative}] beträgt {value}.",
    "total.headline": "die Summe von {measure}[ in den gezeigten {shown:dative}] beträgt {value}",
    "total.things": "die Gesamtzahl der {things}[ über die {over}][ in den gezeigten {shown:dative}] beträgt "
    "{value}.",
    "total.things.headline": "die Gesamtzahl der {things}[ in den gezeigten {shown:dative}] beträgt {value}",
    "average": "der Durchschnitt von {measure} über {rows} beträgt {value}.",
    "average.headline": "der Durchschnitt von {measure} beträgt {value}",
    "average.things": "die durchschnittliche Anzahl der {things} über {rows} beträgt {value}.",
    "average.things.headline": "die durchschnittliche Anzahl der {things} beträgt {value}",
    "median": "der Median von {measure} über {rows} beträgt {value}.",
    "median.headline": "der Median von {measure} beträgt {value}",
    "median.things": "der Median der Anzahl der {things} über {rows} beträgt {value}.",
    "median.things.headline": "der Median der Anzahl der {things} beträgt {value}",
    "below_zero": "{count} von {rows:dative} {count|hat|haben} bei {measure} einen Wert unter null[: "
    "{leaders}].",
    "below_zero.headline": "{count} von {rows:dative} {count|hat|haben} bei {measure} einen Wert unter null",
    "spread": "{measure}[ {scope}]: von {low} bis {high}[, im Durchschnitt {average}].",
    "spread.headline": "{measure}[ {scope}]: von {low} bis {high}",
    "spread.same": "alle {rows} haben[ {scope}] denselben Wert bei {measure}: {value}.",
    "spread.same.headline": "alle {rows} haben[ {scope}] denselben Wert bei {measure}: {value}",
    # Lists
    "count": "{rows} mit {columns}[ und {more} {more|weiteren Spalte|weiteren Spalten}].",
    "count.where": "{count} von {rows:dative} {count|hat|haben} {conditions}.",
    "count.where.headline": "{count} von {rows:dative} {count|hat|haben} {conditions}",
    "latest": "{leaders} {leaders|hat|haben}[ {scope}] den spätesten Wert bei {measure}: "
    "{value}[; unter den {count} "
    "gezeigten steht {other} mit {last} an letzter Stelle].",
    "earliest": "{leaders} {leaders|hat|haben}[ {scope}] den frühesten Wert bei {measure}: "
    "{value}[; unter den {count} "
    "gezeigten steht {other} mit {last} an letzter Stelle].",
    "dates": "nach {measure} reichen die {rows}[ {which}] {span:from}.",
    "latest.headline": "{leaders} {leaders|hat|haben}[ {scope}] den spätesten Wert bei {measure}: {value}",
    "earliest.headline": "{leaders} {leaders|hat|haben}[ {scope}] den frühesten Wert bei {measure}: {value}",
    "frequent": "{leaders} {leaders|ist|sind} bei {measure} am häufigsten: {count} von {rows:dative}.",
    "frequent.headline": "{leaders} {leaders|ist|sind} bei {measure} am häufigsten",
    # Time
    "change.rose": "{measure} {span:of}[ {scope}]: Anstieg um {change} {before:on}, von {old} auf {new}.",
    "change.rose.headline": "{measure}[ {scope}][ {at:in}]: Anstieg um {change} gegenüber dem Vorjahr",
    "change.fell": "{measure} {span:of}[ {scope}]: Rückgang um {change} {before:on}, von {old} auf {new}.",
    "change.fell.headline": "{measure}[ {scope}][ {at:in}]: Rückgang um {change} gegenüber dem Vorjahr",
    "change.near": "{span:the} und {before:the} haben[ {scope}] praktisch denselben Wert bei {measure}: "
    "{new} und {old}.",
    "change.near.headline": "[{at}: ]praktisch derselbe Wert bei {measure}[ {scope}] wie im Vorjahr",
    "change.equal": "{span:the} und {before:the} haben[ {scope}] denselben Wert bei {measure}: {new}.",
    "change.equal.headline": "[{at}: ]derselbe Wert bei {measure}[ {scope}] wie im Vorjahr: {new}",
    "level": "{measure}[ {scope}] in den {periods:dative}[ {which}]: [im Durchschnitt {average}, ]zwischen "
    "{low} ({low_at}) und {high} ({high_at})"
    "[, von {first} zu Beginn auf {last} am Ende].",
    "level.headline": "{measure}[ {scope}][ in den {periods:dative} {which}]: zwischen {low} und {high}",
    "level.same": "alle {periods}[ {which}] haben[ {scope}] denselben Wert bei {measure}: {value}.",
    "level.same.headline": "alle {periods}[ {which}] haben[ {scope}] denselben Wert bei {measure}: {value}",
    "season.highest": "{label:the} hat[ {scope}] den höchsten Wert bei {measure} in den {periods:dative} "
    "{last:to}, wie {before:the} in denen davor.",
    "season.lowest": "{label:the} hat[ {scope}] den niedrigsten Wert bei {measure} in den {periods:dative} "
    "{last:to}, wie {before:the} in denen davor.",
    "season.unknown": "Ohne {periods} mit vollständigen Daten lässt sich Wachstum nicht von einem saisonalen "
    "Verlauf unterscheiden.",
    "rises.before": "{measure}[ {scope}]: Anstieg gegenüber dem Zeitraum davor in {count} von "
    "{periods:dative}.",
    "rises.groups": "{measure}, Anstieg gegenüber dem Zeitraum davor: {leaders}.",
    "rises.group": "{label} in {count} von {periods:dative}",
    "rises.year": "{measure}[ {scope}]: Anstieg gegenüber demselben Zeitraum des Vorjahres in {count} von "
    "{periods:dative}.",
    "no_full": "Nicht einmal {one} ist vollständig erfasst, also gibt es nichts zu vergleichen.",
    # Outlook
    "forecast": "Prognose für {measure}: {steps}[; im Test über die letzten {periods} lag sie im "
    "Durchschnitt um {error} daneben]. Die Spannen sollen {covered} der Werte enthalten.",
    "forecast.headline": "Prognose für {measure}: {steps}",
    "forecast.step": "{value} {period:in} ({low} bis {high})",
    "outliers": "von {periods:dative} fallen bei {measure} auf: {leaders}.",
    "outliers.headline": "bei {measure} fallen auf: {leaders}",
    "outliers.none": "von {periods:dative} fällt bei {measure} nichts auf.",
    "outliers.none.headline": "von {periods:dative} fällt bei {measure} nichts auf",
    "outliers.one": "{label} ({value}, üblich sind {low} bis {high})",
    # Notes
    "partial.begins": "{period:the}[ ({value})] ist unvollständig: Die Daten beginnen {day:in}.",
    "partial.ends": "{period:the}[ ({value})] ist unvollständig: Die Daten enden {day:in}.",
    "partial.running": "{period:the}[ ({value})] ist unvollständig: Der Zeitraum läuft {day:in} noch.",
    "partial.cut": "{period:the}[ ({value})] ist unvollständig: Der Jahreswechsel teilt sie.",
    "gaps": "{periods} {periods|hat|haben} keine Zeile: {leaders}.",
    "missing": "{rows} {rows|hat|haben} bei {measure} keinen Wert.",
    "missing.named": "{leaders} {leaders|hat|haben} bei {measure} keinen Wert.",
    "unnamed": f"{{measure}} {{rows|der Zeile|der # Zeilen}} ohne {{label}}: {{value}}{_SHARE}.",
    "one_row": "Die Abfrage behält nur eine Zeile, ein Gleichstand wäre also nicht zu sehen.",
    "no_value": "Es gab keinen Wert, aus dem sich das berechnen ließe.",
    "no_rows": "Keine Zeilen passen. Wenn es welche geben sollte, die Filter prüfen: Ein Wert kann anders "
    "geschrieben oder der Zeitraum leer sein.",
    "notice.cut": "Das Ergebnis wurde bei {count} Zeilen abgeschnitten: Alle Zahlen hier gelten nur für "
    "diese Zeilen.",
    "notice.first": "Nur die ersten {shown} von {count} Zeilen liegen vor: Alle Zahlen hier gelten für "
    "diese.",
    "notice.cut_and_first": "Das Ergebnis wurde bei {count} Zeilen abgeschnitten, und nur die ersten {shown} "
    "von {count} Zeilen liegen vor: Alle Zahlen hier gelten für diese.",
    "notice.first_row": "Das Ergebnis wurde vor seiner ersten Zeile abgeschnitten, die zu groß zum "
    "Aufbewahren ist.",
    "notice.values": "Einige Werte sind zu lang, um sie ganz aufzubewahren: Ihr Ende ist abgeschnitten.",
    # Computations
    "how.value": "{measure} aus {rows:dative}",
    "how.values": "Werte von {measure} in {rows:dative}",
    "how.sum": "Summe von {measure} über {rows}",
    "how.share": "Anteil an der Summe von {measure} über {rows}",
    "how.average": "Durchschnitt von {measure} über {rows}",
    "how.average_sum": "Durchschnitt der Summen von {measure}, aus {rows:dative}",
    "how.median": "Median von {measure} über {rows}",
    "how.highest": "höchster Wert von {measure} in {rows:dative}",
    "how.lowest": "niedrigster Wert von {measure} in {rows:dative}",
    "how.highest_sum": "höchste Summe von {measure}, aus {rows:dative}",
    "how.lowest_sum": "niedrigste Summe von {measure}, aus {rows:dative}",
    "how.first": "erste Zeile nach {measure}, in der Reihenfolge der Abfrage",
    "how.second": "zweiter Platz nach {measure} in {rows:dative}",
    "how.order": "Reihenfolge nach {measure} in {rows:dative}",
    "how.difference": "Differenz von {measure} in {rows:dative}",
    "how.change": "Veränderung von {measure} über {rows}",
    "how.count": "Zählung von {rows:dative}",
    "how.missing": "{rows} auf {measure} geprüft",
    "how.forecast": "Prognose aus {measure} in {rows:dative}",
    "how.outliers": "{measure} in {rows:dative}, verglichen mit Saison und Trend",
    "how.note": "Hinweis zu den Zeilen und der Abfrage",
    "how.where": "{how} mit {conditions}",
    # Things that are counted
    "day": "{count|# Tag|# Tage}",
    "day.dative": "{count|# Tag|# Tagen}",
    "week": "{count|# Woche|# Wochen}",
    "week.dative": "{count|# Woche|# Wochen}",
    "month": "{count|# Monat|# Monate}",
    "month.dative": "{count|# Monat|# Monaten}",
    "quarter": "{count|# Quartal|# Quartale}",
    "quarter.dative": "{count|# Quartal|# Quartalen}",
    "year": "{count|# Jahr|# Jahre}",
    "year.dative": "{count|# Jahr|# Jahren}",
    "row": "{count|# Zeile|# Zeilen}",
    "row.dative": "{count|# Zeile|# Zeilen}",
    "column": "{count|# Spalte|# Spalten}",
    "column.dative": "{count|# Spalte|# Spalten}",
    "value": "{count|# Wert|# Werte}",
    "value.dative": "{count|# Wert|# Werten}",
    "point": "{count|# Prozentpunkt|# Prozentpunkte}",
    "point.dative": "{count|# Prozentpunkt|# Prozentpunkten}",
    # Facts over two results
    "across.more": "Das sind {amount} mehr[ ({percent})].",
    "across.less": "Das sind {amount} weniger[ ({percent})].",
    "across.same": "Beide Werte sind gleich.",
    "across.how": "berechnet aus {left} und {right}",
}
