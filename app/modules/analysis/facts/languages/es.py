"""Spanish statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

_SHARE = "[ ({share} del total de {total})]"
_HAVE = "[{scope}, ][por {by}, ]{leaders:the} {leaders|tiene|tienen}"
_OVER = "[ en {over}]"
_ALL = "todos ([{count}][{shown} mostrados]) tienen"

TABLE: Mapping[str, str] = {
    # Around statements
    "reading": "Lectura",
    "choice_missing": "Falta la selección del modelo:",
    "own_choice": "KAI ha elegido estas afirmaciones por su cuenta.",
    "left_out.more": "Se eligieron más de tres afirmaciones: las demás se omiten.",
    "left_out.statement": "{count|Se omite una afirmación|Se omiten # afirmaciones} del modelo: estas filas "
    "no {count|la|las} dan.",
    "left_out.finding": "{count|Se omite un hallazgo|Se omiten # hallazgos}: ningún dato "
    "{count|lo|los} respalda.",
    "left_out.sentence": "{count|Se omite una frase|Se omiten # frases} del modelo: cifras, nombres de las "
    "filas y comparaciones solo pueden estar en los datos.",
    "doubts": "Las cifras pueden ser erróneas:",
    "changed": "La consulta se modificó:",
    "changed.more": "{count} {count|cambio más figura|cambios más figuran} junto al SQL.",
    "worth_checking": "Conviene comprobar:",
    "not_followed": "No se siguió:",
    "limited_rows": "Las filas están limitadas por la regla {rules}.",
    "limit_reached": "**Límite alcanzado:** la investigación terminó tras {limit}. Lo demás queda abierto.",
    "no_answer": "La investigación terminó antes de tener una respuesta.",
    "looked_at": "Se consultó:",
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
    # Measures, or the things that they count
    "measure.highest": "el valor más alto de {measure}",
    "things.highest": "el mayor número de {things}",
    "measure.lowest": "el valor más bajo de {measure}",
    "things.lowest": "el menor número de {things}",
    "measure.second_lowest": "el segundo valor más bajo de {measure}",
    "things.second_lowest": "el segundo menor número de {things}",
    "measure.same": "el mismo valor de {measure}",
    "things.same": "el mismo número de {things}",
    "measure.total": "el total de {measure}",
    "things.total": "el número total de {things}",
    "measure.average": "el promedio de {measure}",
    "things.average": "el número medio de {things}",
    "measure.median": "la mediana de {measure}",
    "things.median": "la mediana del número de {things}",
    # Values and rankings
    "values": "{pairs}[ y {more} {more|columna|columnas} más].",
    "value.of": f"{{measure}} {{label:of}}{_OVER}: {{value}}{_SHARE}.",
    "highest": f"{_HAVE} {{measure:highest}}{_OVER}: {{value}}{{leaders|| cada uno}}{_SHARE}.",
    "lowest": f"{_HAVE} {{measure:lowest}}{_OVER}: {{value}}{{leaders|| cada uno}}{_SHARE}.",
    "second": "[{scope}, ]{leaders:the} {leaders|tiene|tienen} el segundo valor más alto de {measure}"
    "[ en {over}]: {value}.",
    "second.low": f"{_HAVE} {{measure:second_lowest}}{_OVER}: {{value}}.",
    "order": "[{scope}, ]los {leaders|#|#} valores más altos de {measure}, en orden, son los de {leaders}.",
    "order.headline": "[{scope}, ]más altos por {measure}: {leaders}",
    "order.low": "[{scope}, ]los {leaders|#|#} valores más bajos de {measure}, en orden, son los de "
    "{leaders}.",
    "order.low.headline": "[{scope}, ]más bajos por {measure}: {leaders}",
    "next": "[{scope}, ]después {leaders|sigue|siguen} en {measure}{leaders||, en orden,} {leaders}.",
    "winners.highest": "{measure:highest} por {label}: {leaders}.",
    "winners.lowest": "{measure:lowest} por {label}: {leaders}.",
    "winners.highest.headline": "{measure:highest} por {label}[, primero {top}]",
    "winners.lowest.headline": "{measure:lowest} por {label}[, primero {top}]",
    "gap": "{label} supera a {other} por {difference} en {measure}[, {points} del total].",
    "gap.low": "{label} está {difference} por debajo de {other} en {measure}[, {points} del total].",
    "compared": "{measure} supera a {other} en {count} de {rows}"
    "[, sobre todo en {named}][, y queda por debajo en {leaders}].",
    "compared.headline": "{measure} supera a {other} en {count} de {rows}",
    "compared.pair": "{label} ({value} frente a {other})",
    "compared.total": "en {rows}, {measure} es de {new} y {other}, de {old}[: una diferencia de "
    "{difference}][ ({change})].",
    "compared.above": "{measure} supera a {other} en {difference}[ ({change})]: {new} frente a {old}.",
    "compared.below": "{measure} queda {difference} por debajo de {other}[ ({change})]: {new} frente a "
    "{old}.",
    "compared.equal": "{measure} y {other} coinciden: {new}.",
    "leader": "[{scope}, ]{label} tiene el valor más alto en {measures}.",
    "same": "{leaders} tienen {measure:same}: {value}.",
    "same.all": f"{_ALL} {{measure:same}}{_OVER}: {{value}}.",
    "same.nearly": f"{_ALL} prácticamente {{measure:same}}{_OVER}[: de {{low}} a {{value}}].",
    # All values of a measure
    "total": f"{{measure:total}}{_OVER}[ en lo mostrado ({{shown}})] es {{value}}.",
    "average": "{measure:average} en {rows} es {value}.",
    "median": "{measure:median} en {rows} es {value}.",
    "highest.short": "{measure}: {leaders}, {value}",
    "lowest.short": "{measure}: {leaders}, {value}",
    "winners.highest.short": "{measure:highest}: {top}",
    "winners.lowest.short": "{measure:lowest}: {top}",
    "below_zero": "{count} de {rows} {count|tiene|tienen} un valor de {measure} por debajo de cero[: "
    "{named}].",
    "spread": "[{scope}, ]{measure}: de {low} a {high}[, con un promedio de {average}].",
    "spread.same": "[{scope}, ]las {rows} tienen {measure:same}: {value}.",
    # Lists
    "count": "{rows} con {columns}[ y {more} {more|columna|columnas} más].",
    "count.where": "{count} de {rows} {count|tiene|tienen} {conditions}.",
    "latest": "[{scope}, ]{leaders} {leaders|tiene|comparten} el valor más reciente de {measure}: {value}"
    "[; la lista de {count} termina con {other} ({last})].",
    "earliest": "[{scope}, ]{leaders} {leaders|tiene|comparten} el valor más antiguo de {measure}: {value}"
    "[; la lista de {count} termina con {other} ({last})].",
    "dates": "por {measure}, las {rows}[ {which}] van {span:from}.",
    "frequent": "{leaders} {leaders|es el valor más frecuente|son los valores más frecuentes} de {measure}"
    "[: {count}{leaders|| cada uno} de {rows}].",
    # Time
    "change.rose": "[{scope}, ]{measure} {span:of}: aumento de {change} {before:on}, de {old} a {new}.",
    "change.rose.headline": "[{scope}, ]{measure}[ {at:in}]: aumento de {change} {base:on}",
    "change.fell": "[{scope}, ]{measure} {span:of}: descenso de {change} {before:on}, de {old} a {new}.",
    "change.fell.headline": "[{scope}, ]{measure}[ {at:in}]: descenso de {change} {base:on}",
    "change.near": "[{scope}, ]{span:the} y {before:the} tienen prácticamente {measure:same}: {new} y {old}.",
    "change.near.headline": "[{scope}, ]{measure}[ {at:in}]: prácticamente sin cambios {base:on}",
    "change.equal": "[{scope}, ]{span:the} y {before:the} tienen {measure:same}: {new}.",
    "change.equal.headline": "[{scope}, ]{measure}[ {at:in}]: sin cambios {base:on}, {new}",
    "change.base": "frente al año anterior",
    "change.base.hour": "frente al día anterior",
    "grew": "{label} es lo que más creció en {measure}: de {old} ({before}) a {new} ({span})"
    "[; {other} es lo que más bajó, de {first} a {last}].",
    "level": "[{scope}, ]{measure} en {periods}[ {which}]: [{average} de promedio, ]entre {low}[ ({low_at})] "
    "y {high}[ ({high_at})][, de {first} en el primer periodo a {last} en el último].",
    "level.same": "[{scope}, ]{measure}: el mismo valor en {periods}[ {which}], {value}.",
    "running": "{measure} hasta {label:the}: {value}.",
    "season.highest": "[{scope}, ]{label:the} tiene {measure:highest} de los {periods} que terminan "
    "{last:in}, igual que {before:the} en los anteriores.",
    "season.lowest": "[{scope}, ]{label:the} tiene {measure:lowest} de los {periods} que terminan {last:in}, "
    "igual que {before:the} en los anteriores.",
    "season.unknown": "Con menos de {periods} completos, el crecimiento no se puede distinguir de un efecto "
    "estacional.",
    "scale.rises": "al subir {label}, {measure} sube en {count} de {steps} pasos"
    ": de {old} (con {before}) a {new} (con {after}).",
    "scale.rises.headline": "al subir {label}, {measure} sube en {count} de {steps} pasos",
    "scale.falls": "al subir {label}, {measure} baja en {count} de {steps} pasos"
    ": de {old} (con {before}) a {new} (con {after}).",
    "scale.falls.headline": "al subir {label}, {measure} baja en {count} de {steps} pasos",
    "courses": "{measure} {span:from}: {leaders}.",
    "courses.headline": "{measure} de {groups} grupos {span:from}",
    "courses.pair": "{label} de {old} a {new}",
    "rises.before": "[{scope}, ]{measure}: aumento respecto al periodo anterior en {count} de {periods}.",
    "rises.groups": "{measure}, aumento respecto al periodo anterior: {leaders}.",
    "rises.group": "{label} en {count} de {periods}",
    "rises.year": "[{scope}, ]{measure}: aumento respecto al mismo periodo del año anterior en {count} de "
    "{periods}.",
    "rises.day": "[{scope}, ]{measure}: aumento respecto a la misma hora del día anterior en {count} de "
    "{periods}.",
    "no_full": "Los datos no cubren por completo ni {one}, así que no hay nada que comparar.",
    # Outlook
    "forecast": "previsión de {measure}: {steps}[; en una prueba con {periods} al final se desvió un {error} "
    "en promedio][. Los intervalos deben contener el {covered} de los valores].",
    "forecast.step": "{value} {period:in} (de {low} a {high})",
    "outliers": "de {periods}, destacan en {measure}: {leaders}.",
    "outliers.none": "de {periods}, nada destaca en {measure}.",
    "outliers.one": "{label} ({value}, lo habitual es de {low} a {high})",
    # Notes
    "partial.begins": "Los datos {period:of}[ ({value})] son parciales[: empiezan {day:in}].",
    "partial.ends": "Los datos {period:of}[ ({value})] son parciales[: terminan {day:in}].",
    "partial.since": "Los datos {period:of}[ ({value})] son parciales: solo cuentan los días desde el {day}.",
    "partial.until": "Los datos {period:of}[ ({value})] son parciales: solo cuentan los días hasta el {day}.",
    "partial.running": "Los datos {period:of}[ ({value})] son parciales: el periodo sigue en curso {day:in}.",
    "partial.ahead": "{leaders:the} {leaders|está|están} en el futuro.",
    "partial.cut": "Los datos {period:of}[ ({value})] son parciales: el cambio de año la divide.",
    "gaps": "{periods} no {periods|tiene|tienen} ninguna fila: {leaders}.",
    "missing": "{rows} no {rows|tiene|tienen} valor de {measure}.",
    "missing.named": "{leaders} no {leaders|tiene|tienen} valor de {measure}.",
    "unnamed": f"{{measure}} de {{rows|la fila|las # filas}} sin {{label}}: {{value}}{_SHARE}.",
    "unnamed.flag": f"{{measure}} sin dato de {{label}}: {{value}}{_SHARE}.",
    "one_row": "La consulta conserva una sola fila, así que un empate no se vería.",
    "no_value": "No había ningún valor con el que calcularlo.",
    "no_rows.headline": "Ninguna fila coincide",
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
    "hour": "{count|# hora|# horas}",
    "hour.the": "{count|la # hora|las # horas}",
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
    "limit.steps": "{count|# paso|# pasos}",
    "limit.calls": "{count|# llamada a una herramienta|# llamadas a herramientas}",
    "limit.tokens": "{count|# token|# tokens}",
    "limit.seconds": "{count|# segundo|# segundos}",
    "limit.replies": "{count|# respuesta inservible|# respuestas seguidas inservibles}",
    "row": "{count|# fila|# filas}",
    "row.the": "{count|la # fila|las # filas}",
    "point": "{count|# punto porcentual|# puntos porcentuales}",
    # Facts over two results
    "across.more": "Son {amount} más[ ({percent})].",
    "across.less": "Son {amount} menos[ ({percent})].",
    "across.same": "Los dos valores son iguales.",
    "across.how": "calculado a partir de {left} y {right}",
}
