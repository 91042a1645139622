"""German statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

_SHARE = "[ ({share} der Gesamtsumme von {total})]"
_HAVE = "{leaders:the} {leaders|hat|haben}[ {scope}][ nach {by}]"
_OVER = "[ über die {over}]"
_EACH = "{leaders||je }{value}"

TABLE: Mapping[str, str] = {
    # Around statements
    "reading": "Einordnung",
    "choice_missing": "Die Auswahl des Modells fehlt:",
    "own_choice": "Diese Aussagen hat KAI selbst ausgewählt.",
    "left_out.more": "Es wurden mehr als drei Aussagen gewählt: Die übrigen sind weggelassen.",
    "left_out.statement": "{count|Eine Aussage|# Aussagen} des Modells {count|ist|sind} weggelassen: Diese "
    "Zeilen ergeben sie nicht.",
    "left_out.finding": "{count|Ein Befund ist|# Befunde sind} weggelassen: Kein Fakt belegt "
    "{count|ihn|sie}.",
    "left_out.sentence": "{count|Ein Satz|# Sätze} des Modells {count|ist|sind} weggelassen: Zahlen, Namen "
    "aus den Zeilen und Vergleiche dürfen nur in Fakten stehen.",
    "doubts": "Die Zahlen können falsch sein:",
    "changed": "Die Abfrage wurde geändert:",
    "changed.more": "{count} weitere {count|Änderung steht|Änderungen stehen} beim SQL.",
    "worth_checking": "Zu prüfen:",
    "not_followed": "Nicht befolgt:",
    "limited_rows": "Die Zeilen sind durch die Regel {rules} begrenzt.",
    "limit_reached": "**Grenze erreicht:** Die Untersuchung endete nach {limit}. Der Rest bleibt offen.",
    "no_answer": "Die Untersuchung endete, bevor sie eine Antwort hatte.",
    "looked_at": "Angesehen wurde:",
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
    # Measures, or the things that they count
    "measure.highest": "den höchsten Wert bei {measure}",
    "things.highest": "die meisten {things}",
    "measure.lowest": "den niedrigsten Wert bei {measure}",
    "things.lowest": "die wenigsten {things}",
    "measure.second_lowest": "den zweitniedrigsten Wert bei {measure}",
    "things.second_lowest": "die zweitwenigsten {things}",
    "measure.same": "denselben Wert bei {measure}",
    "things.same": "gleich viele {things}",
    "measure.total": "die Summe von {measure}",
    "things.total": "die Gesamtzahl der {things}",
    "measure.average": "der Durchschnitt von {measure}",
    "things.average": "die durchschnittliche Anzahl der {things}",
    "measure.median": "der Median von {measure}",
    "things.median": "der Median der Anzahl der {things}",
    # Values and rankings
    "values": "{pairs}[ und {more} weitere {more|Spalte|Spalten}].",
    "value.of": f"{{measure}} {{label:of}}{_OVER}: {{value}}{_SHARE}.",
    "highest": f"{_HAVE} {{measure:highest}}{_OVER}: {_EACH}{_SHARE}.",
    "lowest": f"{_HAVE} {{measure:lowest}}{_OVER}: {_EACH}{_SHARE}.",
    "second": "{leaders:the} {leaders|liegt|liegen}[ {scope}] bei {measure}[ über die {over}] auf Platz "
    "zwei: {value}.",
    "second.low": f"{_HAVE} {{measure:second_lowest}}{_OVER}: {{value}}.",
    "order": "die {leaders|#|#} höchsten Werte bei {measure}[ {scope}] haben, der Reihe nach, {leaders}.",
    "order.headline": "höchste Werte bei {measure}[ {scope}]: {leaders}",
    "order.low": "die {leaders|#|#} niedrigsten Werte bei {measure}[ {scope}] haben, der Reihe nach, "
    "{leaders}.",
    "order.low.headline": "niedrigste Werte bei {measure}[ {scope}]: {leaders}",
    "next": "danach {leaders|folgt|folgen} bei {measure}[ {scope}]{leaders||, der Reihe nach,} {leaders}.",
    "winners.highest": "je {label} hat {measure:highest}: {leaders}.",
    "winners.lowest": "je {label} hat {measure:lowest}: {leaders}.",
    "winners.highest.headline": "je {label} hat {measure:highest}[, zuerst {top}]",
    "winners.lowest.headline": "je {label} hat {measure:lowest}[, zuerst {top}]",
    "gap": "{label} liegt bei {measure} um {difference} vor {other}[, {points} der Gesamtsumme].",
    "gap.low": "{label} liegt bei {measure} um {difference} unter {other}[, {points} der Gesamtsumme].",
    "compared": "{measure} liegt in {count} von {rows:dative} über {other}"
    "[, am weitesten bei {named}][, und darunter bei {leaders}].",
    "compared.headline": "{measure} liegt in {count} von {rows:dative} über {other}",
    "compared.pair": "{label} ({value} gegenüber {other})",
    "compared.total": "über die {rows} beträgt {measure} {new} und {other} {old}[: ein Abstand von "
    "{difference}][ ({change})].",
    "compared.above": "{measure} liegt {difference} über {other}[ ({change})]: {new} gegenüber {old}.",
    "compared.below": "{measure} liegt {difference} unter {other}[ ({change})]: {new} gegenüber {old}.",
    "compared.equal": "{measure} und {other} sind gleich: {new}.",
    "leader": "{label} hat[ {scope}] bei {measures} jeweils den höchsten Wert.",
    "same": "{leaders} haben {measure:same}: {value}.",
    "same.all": f"alle [{{count}}][{{shown}} gezeigten] haben {{measure:same}}{_OVER}: {{value}}.",
    "same.nearly": f"alle [{{count}}][{{shown}} gezeigten] haben praktisch {{measure:same}}{_OVER}"
    "[: von {low} bis {value}].",
    # All values of a measure
    "total": f"{{measure:total}}{_OVER}[ in den gezeigten {{shown:dative}}] beträgt {{value}}.",
    "average": "{measure:average} über {rows} beträgt {value}.",
    "median": "{measure:median} über {rows} beträgt {value}.",
    "highest.short": "{measure}: {leaders}, {value}",
    "lowest.short": "{measure}: {leaders}, {value}",
    "winners.highest.short": "{measure}: {top}",
    "winners.lowest.short": "{measure}: {top}",
    "below_zero": "{count} von {rows:dative} {count|hat|haben} bei {measure} einen Wert unter null[: "
    "{named}].",
    "spread": "{measure}[ {scope}]: von {low} bis {high}[, im Durchschnitt {average}].",
    "spread.same": "alle {rows} haben[ {scope}] {measure:same}: {value}.",
    # Lists
    "count": "{rows} mit {columns}[ und {more} {more|weiteren Spalte|weiteren Spalten}].",
    "count.where": "{count} von {rows:dative} {count|hat|haben} {conditions}.",
    "latest": "{leaders} {leaders|hat|haben}[ {scope}] den spätesten Wert bei {measure}: {value}"
    "[; unter den {count} gezeigten steht {other} mit {last} an letzter Stelle].",
    "earliest": "{leaders} {leaders|hat|haben}[ {scope}] den frühesten Wert bei {measure}: {value}"
    "[; unter den {count} gezeigten steht {other} mit {last} an letzter Stelle].",
    "dates": "nach {measure} reichen die {rows}[ {which}] {span:from}.",
    "frequent": "{leaders} {leaders|ist|sind} bei {measure} am häufigsten"
    "[: {leaders||je }{count} von {rows:dative}].",
    # Time
    "change.rose": "{measure} {span:of}[ {scope}]: Anstieg um {change} {before:on}, von {old} auf {new}.",
    "change.rose.headline": "{measure}[ {scope}][ {at:in}]: Anstieg um {change} {base:on}",
    "change.fell": "{measure} {span:of}[ {scope}]: Rückgang um {change} {before:on}, von {old} auf {new}.",
    "change.fell.headline": "{measure}[ {scope}][ {at:in}]: Rückgang um {change} {base:on}",
    "change.near": "{span:the} und {before:the} haben[ {scope}] praktisch {measure:same}: {new} und {old}.",
    "change.near.headline": "{measure}[ {scope}][ {at:in}]: praktisch unverändert {base:on}",
    "change.equal": "{span:the} und {before:the} haben[ {scope}] {measure:same}: {new}.",
    "change.equal.headline": "{measure}[ {scope}][ {at:in}]: unverändert {base:on}, {new}",
    "change.base": "gegenüber dem Vorjahr",
    "change.base.hour": "gegenüber dem Vortag",
    "grew": "{label} ist bei {measure} am stärksten gewachsen: von {old} ({before}) auf {new} ({span})"
    "[; {other} ist am stärksten gesunken, von {first} auf {last}].",
    "level": "{measure}[ {scope}] in den {periods:dative}[ {which}]: [im Durchschnitt {average}, ]zwischen "
    "{low}[ ({low_at})] und {high}[ ({high_at})][, von {first} zu Beginn auf {last} am Ende].",
    "level.same": "alle {periods}[ {which}] haben[ {scope}] {measure:same}: {value}.",
    "running": "{measure} {label:to}: {value}.",
    "season.highest": "{label:the} hat[ {scope}] {measure:highest} in den {periods:dative} {last:to}, wie "
    "{before:the} in denen davor.",
    "season.lowest": "{label:the} hat[ {scope}] {measure:lowest} in den {periods:dative} {last:to}, wie "
    "{before:the} in denen davor.",
    "season.unknown": "Ohne {periods} mit vollständigen Daten lässt sich Wachstum nicht von einem saisonalen "
    "Verlauf unterscheiden.",
    "scale.rises": "mit steigendem {label} steigt {measure} in {count} von {steps} Schritten"
    ": von {old} (bei {before}) auf {new} (bei {after}).",
    "scale.rises.headline": "mit steigendem {label} steigt {measure} in {count} von {steps} Schritten",
    "scale.falls": "mit steigendem {label} sinkt {measure} in {count} von {steps} Schritten"
    ": von {old} (bei {before}) auf {new} (bei {after}).",
    "scale.falls.headline": "mit steigendem {label} sinkt {measure} in {count} von {steps} Schritten",
    "courses": "{measure} {span:from}: {leaders}.",
    "courses.headline": "{measure} von {groups} Gruppen {span:from}",
    "courses.pair": "{label} von {old} auf {new}",
    "rises.before": "{measure}[ {scope}]: Anstieg gegenüber dem Zeitraum davor in {count} von "
    "{periods:dative}.",
    "rises.groups": "{measure}, Anstieg gegenüber dem Zeitraum davor: {leaders}.",
    "rises.group": "{label} in {count} von {periods:dative}",
    "rises.year": "{measure}[ {scope}]: Anstieg gegenüber demselben Zeitraum des Vorjahres in {count} von "
    "{periods:dative}.",
    "rises.day": "{measure}[ {scope}]: Anstieg gegenüber derselben Stunde des Vortags in {count} von "
    "{periods:dative}.",
    "no_full": "Nicht einmal {one} ist vollständig erfasst, also gibt es nichts zu vergleichen.",
    # Outlook
    "forecast": "Prognose für {measure}: {steps}[; im Test über die letzten {periods} lag sie im "
    "Durchschnitt um {error} daneben][. Die Spannen sollen {covered} der Werte enthalten].",
    "forecast.step": "{value} {period:in} ({low} bis {high})",
    "outliers": "von {periods:dative} fallen bei {measure} auf: {leaders}.",
    "outliers.none": "von {periods:dative} fällt bei {measure} nichts auf.",
    "outliers.one": "{label} ({value}, üblich sind {low} bis {high})",
    # Notes
    "partial.begins": "{period:the}[ ({value})] ist unvollständig[: Die Daten beginnen {day:in}].",
    "partial.ends": "{period:the}[ ({value})] ist unvollständig[: Die Daten enden {day:in}].",
    "partial.since": "{period:the}[ ({value})] ist unvollständig: Gezählt sind nur die Tage ab dem {day}.",
    "partial.until": "{period:the}[ ({value})] ist unvollständig: Gezählt sind nur die Tage bis zum {day}.",
    "partial.running": "{period:the}[ ({value})] ist unvollständig: Der Zeitraum läuft {day:in} noch.",
    "partial.ahead": "{leaders:the} {leaders|liegt|liegen} in der Zukunft.",
    "partial.cut": "{period:the}[ ({value})] ist unvollständig: Der Jahreswechsel teilt sie.",
    "gaps": "{periods} {periods|hat|haben} keine Zeile: {leaders}.",
    "missing": "{rows} {rows|hat|haben} bei {measure} keinen Wert.",
    "missing.named": "{leaders} {leaders|hat|haben} bei {measure} keinen Wert.",
    "unnamed": f"{{measure}} {{rows|der Zeile|der # Zeilen}} ohne {{label}}: {{value}}{_SHARE}.",
    "unnamed.flag": f"{{measure}} ohne Angabe zu {{label}}: {{value}}{_SHARE}.",
    "one_row": "Die Abfrage behält nur eine Zeile, ein Gleichstand wäre also nicht zu sehen.",
    "no_value": "Es gab keinen Wert, aus dem sich das berechnen ließe.",
    "no_rows.headline": "Keine Zeilen passen",
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
    "hour": "{count|# Stunde|# Stunden}",
    "hour.dative": "{count|# Stunde|# Stunden}",
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
    "limit.steps": "{count|# Schritt|# Schritten}",
    "limit.calls": "{count|# Aufruf eines Werkzeugs|# Aufrufen von Werkzeugen}",
    "limit.tokens": "{count|# Token|# Tokens}",
    "limit.seconds": "{count|# Sekunde|# Sekunden}",
    "limit.replies": "{count|# unbrauchbaren Antwort|# unbrauchbaren Antworten in Folge}",
    "row": "{count|# Zeile|# Zeilen}",
    "row.dative": "{count|# Zeile|# Zeilen}",
    "point": "{count|# Prozentpunkt|# Prozentpunkte}",
    "point.dative": "{count|# Prozentpunkt|# Prozentpunkten}",
    # Facts over two results
    "across.more": "Das sind {amount} mehr[ ({percent})].",
    "across.less": "Das sind {amount} weniger[ ({percent})].",
    "across.same": "Beide Werte sind gleich.",
    "across.how": "berechnet aus {left} und {right}",
}
