"""Spanish statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

_SHARE = "[ ({share} del total de {total})][ ({share} del total de {among} valores mostrados, {shown_total})]"
_HAVE = "[{scope}, ][por {by}, ]{leaders:the} {leaders|tiene|tienen}"
_HAVE_IT = "[{scope}, ]{leaders:the} {leaders|tiene|tienen}"
_OVER = "[ en {over}]"

TABLE: Mapping[str, str] = {
    # Around statements
    "reading": "Lectura",
    "choice_missing": "Falta la selección del modelo:",
    "own_choice": "KAI ha elegido estas afirmaciones por su cuenta.",
    "doubts": "Las cifras pueden ser erróneas:",
    "changed": "La consulta se modificó:",
    "changed.more": "{count} {count|cambio más figura|cambios más figuran} junto al SQL.",
    "worth_checking": "Conviene comprobar:",
    "not_followed": "No se siguió:",
    # Parts of statements
    "scoped": "Para {scope}: {statement}",
    "pair": "{label} ({value})",
    "named": "{measure}: {value}",
    "label.row": "{label} (fila {row})",
    "label.period": "{label} ({period})",
    "scope.shown": "entre los {count} valores mostrados",
    "scope.named": "entre las filas con valor de {label}",
    "scope.both": "en {periods} con filas en ambos años",
    "scope.rows": "en las {count} filas mostradas",
    "scope.picked": "de las {count} filas elegidas antes, como máximo",
    "scope.all": "en conjunto",
    "scope.periods": "entre {periods:the} {which}",
    "which.full": "con datos completos",
    "which.with_values": "con valores",
    "which.shown": "de este resultado",
    # Values and rankings
    "values": "{pairs}[ y {more} {more|columna|columnas} más].",
    "values.bold": "**{pairs}**[ y {more} {more|columna|columnas} más].",
    "values.bold.headline": "{pairs}",
    "value.of": f"{{measure}} {{label:of}}{_OVER}: {{value}}{_SHARE}.",
    "value.of.headline": "{measure} {label:of}: {value}",
    "highest": f"{_HAVE} el valor más alto de {{measure}}{_OVER}: {{value}}{{leaders|| cada uno}}{_SHARE}.",
    "highest.headline": f"{_HAVE} el valor más alto de {{measure}}: {{value}}",
    "lowest": f"{_HAVE} el valor más bajo de {{measure}}{_OVER}: {{value}}{{leaders|| cada uno}}{_SHARE}.",
    "lowest.headline": f"{_HAVE} el valor más bajo de {{measure}}: {{value}}",
    "most": f"{_HAVE} el mayor número de {{things}}{_OVER}: {{value}}{{leaders|| cada uno}}{_SHARE}.",
    "most.headline": f"{_HAVE} el mayor número de {{things}}: {{value}}",
    "fewest": f"{_HAVE} el menor número de {{things}}{_OVER}: {{value}}{{leaders|| cada uno}}{_SHARE}.",
    "fewest.headline": f"{_HAVE} el menor número de {{things}}: {{value}}",
    "second": f"{_HAVE_IT} el segundo valor más alto de {{measure}}{_OVER}: {{value}}.",
    "second.headline": f"{_HAVE_IT} el segundo valor más alto de {{measure}}: {{value}}",
    "second.low": f"{_HAVE_IT} el segundo valor más bajo de {{measure}}{_OVER}: {{value}}.",
    "second.low.headline": f"{_HAVE_IT} el segundo valor más bajo de {{measure}}: {{value}}",
    "second.few": f"{_HAVE_IT} el segundo menor número de {{things}}{_OVER}: {{value}}.",
    "second.few.headline": f"{_HAVE_IT} el segundo menor número de {{things}}: {{value}}",
    "order": "[{scope}, ]los {leaders|#|#} valores más altos de {measure}, en orden, son los de {leaders}.",
    "order.headline": "[{scope}, ]más altos por {measure}: {leaders}",
    "order.low": "[{scope}, ]los {leaders|#|#} valores más bajos de {measure}, en orden, son los de "
    "{leaders}.",
    "order.low.headline": "[{scope}, ]más bajos por {measure}: {leaders}",
    "next": "[{scope}, ]después {leaders|sigue|siguen} en {measure}{leaders||, en orden,} {leaders}.",
    "gap": "{label} supera a {other} por {difference} en {measure}[, {points} del total].",
    "gap.headline": "{label} supera a {other} por {difference} en {measure}",
    "gap.low": "{label} está {difference} por debajo de {other} en {measure}[, {points} del total].",
    "gap.low.headline": "{label} está {difference} por debajo de {other} en {measure}",
    "leader": "[{scope}, ]{label} tiene el valor más alto en {measures}.",
    "leader.headline": "[{scope}, ]{label} tiene el valor más alto en {measures}",
    "same": "{leaders} tienen el mismo valor de {measure}: {value}.",
    "same.headline": "{leaders} tienen el mismo valor de {measure}: {value}",
    "same.things": "{leaders} tienen el mismo número de {things}: {value}.",
    "same.things.headline": "{leaders} tienen el mismo número de {things}: {value}",
    "same.all": f"los [{{count}} valores][{{shown}} valores mostrados] de {{measure}}{_OVER} son iguales: "
    f"{{value}}.",
    "same.all.headline": "los [{count} valores][{shown} valores mostrados] de {measure} son iguales: {value}",
    "same.all.things": f"los [{{count}} valores][{{shown}} valores mostrados] del número de "
    f"{{things}}{_OVER} son iguales: {{value}}.",
    "same.all.things.headline": "los [{count} valores][{shown} valores mostrados] del número de {things} son "
    "iguales: {value}",
    "same.nearly": f"los [{{count}} valores][{{shown}} valores mostrados] de {{measure}}{_OVER} son "
    f"prácticamente iguales: de {{low}} a {{value}}.",
    "same.nearly.headline": "los [{count} valores][{shown} valores mostrados] de {measure} son prácticamente "
    "iguales",
    # All values of a measure
    "total": "el total de {measure}[ en {over}][ en lo mostrado ({shown})] es {value}.",
    "total.headline": "el total de {measure}[ en lo mostrado ({shown})] es {value}",
    "total.things": "el número total de {things}[ en {over}][ en lo mostrado ({shown})] es {value}.",
    "total.things.headline": "el número total de {things}[ en lo mostrado ({shown})] es {value}",
    "average": "el promedio de {measure} en {rows} es {value}.",
    "average.headline": "el promedio de {measure} es {value}",
    "average.things": "el número medio de {things} en {rows} es {value}.",
    "average.things.headline": "el número medio de {things} es {value}",
    "median": "la mediana de {measure} en {rows} es {value}.",
    "median.headline": "la mediana de {measure} es {value}",
    "median.things": "la mediana del número de {things} en {rows} es {value}.",
    "median.things.headline": "la mediana del número de {things} es {value}",
    "below_zero": "{count} de {rows} {count|tiene|tienen} un valor de {measure} por debajo de cero[: "
    "{leaders}].",
    "below_zero.headline": "{count} de {rows} {count|tiene|tienen} {measure} por debajo de cero",
    "spread": "[{scope}, ]{measure}: de {low} a {high}[, con un promedio de {average}].",
    "spread.headline": "[{scope}, ]{measure}: de {low} a {high}",
    "spread.same": "[{scope}, ]el valor de {measure} es el mismo en las {rows}: {value}.",
    "spread.same.headline": "[{scope}, ]el mismo valor de {measure} en las {rows}: {value}",
    # Lists
    "count": "{rows} con {columns}[ y {more} {more|columna|columnas} más].",
    "count.where": "{count} de {rows} {count|tiene|tienen} {conditions}.",
    "count.where.headline": "{count} de {rows} {count|tiene|tienen} {conditions}",
    "latest": "[{scope}, ]{leaders} {leaders|tiene|comparten} el valor más reciente de {measure}: "
    "{value}[; el último de los "
    "{count} valores mostrados es el de {other}: {last}].",
    "earliest": "[{scope}, ]{leaders} {leaders|tiene|comparten} el valor más antiguo de {measure}: "
    "{value}[; el último de los "
    "{count} valores mostrados es el de {other}: {last}].",
    "dates": "por {measure}, las {rows}[ {which}] van {span:from}.",
    "latest.headline": "[{scope}, ]{leaders} {leaders|tiene|comparten} el valor más reciente de "
    "{measure}: {value}",
    "earliest.headline": "[{scope}, ]{leaders} {leaders|tiene|comparten} el valor más antiguo de "
    "{measure}: {value}",
    "frequent": "{leaders} {leaders|es el valor más frecuente|son los valores más frecuentes} de {measure}: "
    "{count} de {rows}.",
    "frequent.headline": "{leaders} {leaders|es el valor más frecuente|son los valores más frecuentes} de "
    "{measure}",
    # Time
    "change.rose": "[{scope}, ]{measure} {span:of}: aumento de {change} {before:on}, de {old} a {new}.",
    "change.rose.headline": "[{scope}, ]{measure}[ {at:in}]: aumento de {change} frente al año anterior",
    "change.fell": "[{scope}, ]{measure} {span:of}: descenso de {change} {before:on}, de {old} a {new}.",
    "change.fell.headline": "[{scope}, ]{measure}[ {at:in}]: descenso de {change} frente al año anterior",
    "change.near": "[{scope}, ]{span:the} y {before:the} tienen prácticamente el mismo valor de {measure}: "
    "{new} y {old}.",
    "change.near.headline": "[{scope}, ]{measure}[ {at:in}]: prácticamente lo mismo que el año anterior",
    "change.equal": "[{scope}, ]{span:the} y {before:the} tienen el mismo valor de {measure}: {new}.",
    "change.equal.headline": "[{scope}, ]{measure}[ {at:in}]: lo mismo que el año anterior, {new}",
    "level": "[{scope}, ]{measure} en {periods}[ {which}]: [{average} de promedio, ]entre {low} ({low_at}) y "
    "{high} ({high_at})"
    "[, de {first} en el primer periodo a {last} en el último].",
    "level.headline": "[{scope}, ]{measure}[ en {periods} {which}]: entre {low} y {high}",
    "level.same": "[{scope}, ]{measure}: el mismo valor en {periods}[ {which}], {value}.",
    "level.same.headline": "[{scope}, ]{measure}: el mismo valor en {periods}[ {which}], {value}",
    "season.highest": "[{scope}, ]{label:the} tiene el valor más alto de {measure} de los {periods} que "
    "terminan {last:in}, igual que {before:the} en los anteriores.",
    "season.lowest": "[{scope}, ]{label:the} tiene el valor más bajo de {measure} de los {periods} que "
    "terminan {last:in}, igual que {before:the} en los anteriores.",
    "season.unknown": "Con menos de {periods} completos, el crecimiento no se puede distinguir de un efecto "
    "estacional.",
    "rises.before": "[{scope}, ]{measure}: aumento respecto al periodo anterior en {count} de {periods}.",
    "rises.groups": "{measure}, aumento respecto al periodo anterior: {leaders}.",
    "rises.group": "{label} en {count} de {periods}",
    "rises.year": "[{scope}, ]{measure}: aumento respecto al mismo periodo del año anterior en {count} de "
    "{periods}.",
    "no_full": "Los datos no cubren por completo ni {one}, así que no hay nada que comparar.",
    # Outlook
    "forecast": "previsión de {measure}: {steps}[; en una prueba con {periods} al final se desvió un {error} "
    "en promedio]. Los intervalos deben contener el {covered} de los valores.",
    "forecast.headline": "previsión de {measure}: {steps}",
    "forecast.step": "{value} {period:in} (de {low} a {high})",
    "outliers": "de {periods}, destacan en {measure}: {leaders}.",
    "outliers.headline": "destacan en {measure}: {leaders}",
    "outliers.none": "de {periods}, nada destaca en {measure}.",
    "outliers.none.headline": "de {periods}, nada destaca en {measure}",
    "outliers.one": "{label} ({value}, lo habitual es de {low} a {high})",
    # Notes
    "partial.begins": "Los datos {period:of}[ ({value})] son parciales: empiezan {day:in}.",
    "partial.ends": "Los datos {period:of}[ ({value})] son parciales: terminan {day:in}.",
    "partial.running": "Los datos {period:of}[ ({value})] son parciales: el periodo sigue en curso {day:in}.",
    "partial.cut": "Los datos {period:of}[ ({value})] son parciales: el cambio de año la divide.",
    "gaps": "{periods} no {periods|tiene|tienen} ninguna fila: {leaders}.",
    "missing": "{rows} no {rows|tiene|tienen} valor de {measure}.",
    "missing.named": "{leaders} no {leaders|tiene|tienen} valor de {measure}.",
    "unnamed": f"{{measure}} de {{rows|la fila|las # filas}} sin {{label}}: {{value}}{_SHARE}.",
    "one_row": "La consulta conserva una sola fila, así que un empate no se vería.",
    "no_value": "No había ningún valor con el que calcularlo.",
    "no_rows": "Ninguna fila coincide. Si debería haber alguna, revise los filtros: puede que un valor se "
    "escriba de otro modo o que el periodo esté vacío.",
    "notice.cut": "El resultado se cortó en {count} filas: todas las cifras son solo de estas filas.",
    "notice.first": "Solo se dispone de las primeras {shown} de {count} filas: todas las cifras son de "
    "estas.",
    "notice.cut_and_first": "El resultado se cortó en {count} filas, y solo se dispone de las primeras "
    "{shown} de {count} filas: todas las cifras son de estas.",
    "notice.first_row": "El resultado se cortó antes de su primera fila, que es demasiado grande para "
    "guardarla.",
    "notice.values": "Algunos valores son demasiado largos para guardarlos enteros: su final está cortado.",
    # Computations
    "how.value": "{measure} de {rows}",
    "how.values": "valores de {measure} en {rows}",
    "how.sum": "suma de {measure} en {rows}",
    "how.share": "parte de la suma de {measure} en {rows}",
    "how.average": "promedio de {measure} en {rows}",
    "how.average_sum": "promedio de las sumas de {measure}, de {rows}",
    "how.median": "mediana de {measure} en {rows}",
    "how.highest": "valor más alto de {measure} en {rows}",
    "how.lowest": "valor más bajo de {measure} en {rows}",
    "how.highest_sum": "suma más alta de {measure}, de {rows}",
    "how.lowest_sum": "suma más baja de {measure}, de {rows}",
    "how.first": "primera fila por {measure}, en el orden de la consulta",
    "how.second": "segundo lugar por {measure} en {rows}",
    "how.order": "orden por {measure} en {rows}",
    "how.difference": "diferencia de {measure} en {rows}",
    "how.change": "cambio de {measure} en {rows}",
    "how.count": "recuento de {rows}",
    "how.missing": "revisión de {measure} en {rows}",
    "how.forecast": "previsión a partir de {measure} en {rows}",
    "how.outliers": "comparación de {measure} en {rows} con temporada y tendencia",
    "how.note": "nota sobre las filas y la consulta",
    "how.where": "{how} con {conditions}",
    # Things that are counted
    "day": "{count|# día|# días}",
    "day.the": "{count|el # día|los # días}",
    "week": "{count|# semana|# semanas}",
    "week.the": "{count|la # semana|las # semanas}",
    "month": "{count|# mes|# meses}",
    "month.the": "{count|el # mes|los # meses}",
    "quarter": "{count|# trimestre|# trimestres}",
    "quarter.the": "{count|el # trimestre|los # trimestres}",
    "year": "{count|# año|# años}",
    "year.the": "{count|el # año|los # años}",
    "row": "{count|# fila|# filas}",
    "row.the": "{count|la # fila|las # filas}",
    "column": "{count|# columna|# columnas}",
    "value": "{count|# valor|# valores}",
    "point": "{count|# punto porcentual|# puntos porcentuales}",
    # Facts over two results
    "across.more": "Son {amount} más[ ({percent})].",
    "across.less": "Son {amount} menos[ ({percent})].",
    "across.same": "Los dos valores son iguales.",
    "across.how": "calculado a partir de {left} y {right}",
}
