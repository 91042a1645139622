"""French statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

_SHARE = "[ ({share} du total de {total})][ ({share} du total des {among} valeurs affichées, {shown_total})]"
_HAVE = "[{scope}, ][par {by}, ]{leaders:the} {leaders|a|ont}"
_HAVE_IT = "[{scope}, ]{leaders:the} {leaders|a|ont}"
_OVER = "[ sur {over}]"

TABLE: Mapping[str, str] = {
    # Around statements
    "reading": "Lecture\u00a0",
    "choice_missing": "La sélection du modèle manque\u00a0:",
    "own_choice": "Ces affirmations ont été choisies par KAI.",
    "doubts": "Les chiffres peuvent être faux\u00a0:",
    "changed": "La requête a été modifiée\u00a0:",
    "changed.more": "{count} {count|autre modification figure|autres modifications figurent} avec le SQL.",
    "worth_checking": "À vérifier\u00a0:",
    "not_followed": "Non suivi\u00a0:",
    # Parts of statements
    "scoped": "Pour {scope}\u00a0: {statement}",
    "pair": "{label} ({value})",
    "named": "{measure}\u00a0: {value}",
    "label.row": "{label} (ligne {row})",
    "label.period": "{label} ({period})",
    "scope.shown": "parmi les {count} valeurs affichées",
    "scope.named": "parmi les lignes avec une valeur de {label}",
    "scope.both": "sur les {periods} avec des lignes dans les deux années",
    "scope.rows": "dans les {count} lignes affichées",
    "scope.picked": "parmi les {count} lignes au plus choisies auparavant",
    "scope.all": "dans l'ensemble",
    "scope.periods": "parmi les {periods} {which}",
    "which.full": "aux données complètes",
    "which.with_values": "avec des valeurs",
    "which.shown": "de ce résultat",
    # Values and rankings
    "values": "{pairs}[ et {more} {more|autre colonne|autres colonnes}].",
    "values.bold": "**{pairs}**[ et {more} {more|autre colonne|autres colonnes}].",
    "values.bold.headline": "{pairs}",
    "value.of": f"{{measure}} {{label:of}}{_OVER}\u00a0: {{value}}{_SHARE}.",
    "value.of.headline": "{measure} {label:of}\u00a0: {value}",
    "highest": f"{_HAVE} la valeur la plus élevée de {{measure}}{_OVER}\u00a0: {{value}}{{leaders|| "
    f"chacun}}{_SHARE}.",
    "highest.headline": f"{_HAVE} la valeur la plus élevée de {{measure}}\u00a0: {{value}}",
    "lowest": f"{_HAVE} la valeur la plus basse de {{measure}}{_OVER}\u00a0: {{value}}{{leaders|| "
    f"chacun}}{_SHARE}.",
    "lowest.headline": f"{_HAVE} la valeur la plus basse de {{measure}}\u00a0: {{value}}",
    "most": f"{_HAVE} le plus grand nombre de {{things}}{_OVER}\u00a0: {{value}}{{leaders|| "
    f"chacun}}{_SHARE}.",
    "most.headline": f"{_HAVE} le plus grand nombre de {{things}}\u00a0: {{value}}",
    "fewest": f"{_HAVE} le plus petit nombre de {{things}}{_OVER}\u00a0: {{value}}{{leaders|| "
    f"chacun}}{_SHARE}.",
    "fewest.headline": f"{_HAVE} le plus petit nombre de {{things}}\u00a0: {{value}}",
    "second": f"{_HAVE_IT} la deuxième plus haute valeur de {{measure}}{_OVER}\u00a0: {{value}}.",
    "second.headline": f"{_HAVE_IT} la deuxième plus haute valeur de {{measure}}\u00a0: {{value}}",
    "second.low": f"{_HAVE_IT} la deuxième plus basse valeur de {{measure}}{_OVER}\u00a0: {{value}}.",
    "second.low.headline": f"{_HAVE_IT} la deuxième plus basse valeur de {{measure}}\u00a0: {{value}}",
    "second.few": f"{_HAVE_IT} le deuxième plus petit nombre de {{things}}{_OVER}\u00a0: {{value}}.",
    "second.few.headline": f"{_HAVE_IT} le deuxième plus petit nombre de {{things}}\u00a0: {{value}}",
    "order": "[{scope}, ]les {leaders|#|#} valeurs les plus élevées de {measure} sont, dans l'ordre, celles "
    "de {leaders}.",
    "order.headline": "[{scope}, ]valeurs les plus élevées de {measure}\u00a0: {leaders}",
    "order.low": "[{scope}, ]les {leaders|#|#} valeurs les plus basses de {measure} sont, dans l'ordre, "
    "celles de {leaders}.",
    "order.low.headline": "[{scope}, ]valeurs les plus basses de {measure}\u00a0: {leaders}",
    "next": "[{scope}, ]{leaders|vient|viennent} ensuite pour {measure}{leaders||, dans l'ordre,} {leaders}.",
    "gap": "{label} devance {other} de {difference} pour {measure}[, soit {points} du total].",
    "gap.headline": "{label} devance {other} de {difference} pour {measure}",
    "gap.low": "{label} est {difference} en dessous de {other} pour {measure}[, soit {points} du total].",
    "gap.low.headline": "{label} est {difference} en dessous de {other} pour {measure}",
    "leader": "[{scope}, ]{label} a la valeur la plus élevée pour {measures}.",
    "leader.headline": "[{scope}, ]{label} a la valeur la plus élevée pour {measures}",
    "same": "{leaders} ont la même valeur de {measure}\u00a0: {value}.",
    "same.headline": "{leaders} ont la même valeur de {measure}\u00a0: {value}",
    "same.things": "{leaders} ont le même nombre de {things}\u00a0: {value}.",
    "same.things.headline": "{leaders} ont le même nombre de {things}\u00a0: {value}",
    "same.all": f"les [{{count}} valeurs][{{shown}} valeurs affichées] de {{measure}}{_OVER} sont "
    f"égales\u00a0: {{value}}.",
    "same.all.headline": "les [{count} valeurs][{shown} valeurs affichées] de {measure} sont égales\u00a0: "
    "{value}",
    "same.all.things": f"les [{{count}} valeurs][{{shown}} valeurs affichées] du nombre de "
    f"{{things}}{_OVER} sont égales\u00a0: {{value}}.",
    "same.all.things.headline": "les [{count} valeurs][{shown} valeurs affichées] du nombre de {things} sont "
    "égales\u00a0: {value}",
    "same.nearly": f"les [{{count}} valeurs][{{shown}} valeurs affichées] de {{measure}}{_OVER} sont "
    f"pratiquement égales\u00a0: de {{low}} à {{value}}.",
    "same.nearly.headline": "les [{count} valeurs][{shown} valeurs affichées] de {measure} sont pratiquement "
    "égales",
    # All values of a measure
    "total": "le total de {measure}[ sur {over}][ dans ce qui est affiché ({shown})] est de {value}.",
    "total.headline": "le total de {measure}[ dans ce qui est affiché ({shown})] est de {value}",
    "total.things": "le nombre total de {things}[ sur {over}][ dans ce qui est affiché ({shown})] est de "
    "{value}.",
    "total.things.headline": "le nombre total de {things}[ dans ce qui est affiché ({shown})] est de {value}",
    "average": "la moyenne de {measure} sur {rows} est de {value}.",
    "average.headline": "la moyenne de {measure} est de {value}",
    "average.things": "le nombre moyen de {things} sur {rows} est de {value}.",
    "average.things.headline": "le nombre moyen de {things} est de {value}",
    "median": "la médiane de {measure} sur {rows} est de {value}.",
    "median.headline": "la médiane de {measure} est de {value}",
    "median.things": "la médiane du nombre de {things} sur {rows} est de {value}.",
    "median.things.headline": "la médiane du nombre de {things} est de {value}",
    "below_zero": "{count} sur {rows} {count|a|ont} une valeur de {measure} inférieure à zéro[\u00a0: "
    "{leaders}].",
    "below_zero.headline": "{count} sur {rows} {count|a|ont} {measure} en dessous de zéro",
    "spread": "[{scope}, ]{measure}\u00a0: de {low} à {high}[, avec une moyenne de {average}].",
    "spread.headline": "[{scope}, ]{measure}\u00a0: de {low} à {high}",
    "spread.same": "[{scope}, ]la valeur de {measure} est la même dans les {rows}\u00a0: {value}.",
    "spread.same.headline": "[{scope}, ]la même valeur de {measure} dans les {rows}\u00a0: {value}",
    # Lists
    "count": "{rows} avec {columns}[ et {more} {more|autre colonne|autres colonnes}].",
    "count.where": "{count} sur {rows} {count|a|ont} {conditions}.",
    "count.where.headline": "{count} sur {rows} {count|a|ont} {conditions}",
    "latest": "[{scope}, ]{leaders} {leaders|a|partagent} la valeur la plus récente de {measure}\u00a0: "
    "{value}[\u00a0; la "
    "dernière des {count} valeurs affichées est celle de {other}\u00a0: {last}].",
    "earliest": "[{scope}, ]{leaders} {leaders|a|partagent} la valeur la plus ancienne de {measure}\u00a0: "
    "{value}[\u00a0; la "
    "dernière des {count} valeurs affichées est celle de {other}\u00a0: {last}].",
    "dates": "par {measure}, les {rows}[ {which}] vont {span:from}.",
    "latest.headline": "[{scope}, ]{leaders} {leaders|a|partagent} la valeur la plus récente de "
    "{measure}\u00a0: {value}",
    "earliest.headline": "[{scope}, ]{leaders} {leaders|a|partagent} la valeur la plus ancienne de "
    "{measure}\u00a0: {value}",
    "frequent": "{leaders} {leaders|est la valeur la plus fréquente|sont les valeurs les plus fréquentes} de "
    "{measure}\u00a0: {count} sur {rows}.",
    "frequent.headline": "{leaders} "
    "{leaders|est la valeur la plus fréquente|sont les valeurs les plus fréquentes} de {measure}",
    # Time
    "change.rose": "[{scope}, ]{measure} {span:of}\u00a0: hausse de {change} {before:on}, de {old} à {new}.",
    "change.rose.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: hausse de {change} sur un an",
    "change.fell": "[{scope}, ]{measure} {span:of}\u00a0: baisse de {change} {before:on}, de {old} à {new}.",
    "change.fell.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: baisse de {change} sur un an",
    "change.near": "[{scope}, ]{span:the} et {before:the} ont pratiquement la même valeur de "
    "{measure}\u00a0: {new} et {old}.",
    "change.near.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: pratiquement le même niveau qu'un an "
    "avant",
    "change.equal": "[{scope}, ]{span:the} et {before:the} ont la même valeur de {measure}\u00a0: {new}.",
    "change.equal.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: le même niveau qu'un an avant, {new}",
    "level": "[{scope}, ]{measure} sur les {periods}[ {which}]\u00a0: [{average} en moyenne, ]entre {low} "
    "({low_at}) et {high} ({high_at})"
    "[, de {first} au début à {last} à la fin].",
    "level.headline": "[{scope}, ]{measure}[ sur les {periods} {which}]\u00a0: entre {low} et {high}",
    "level.same": "[{scope}, ]{measure}\u00a0: la même valeur sur les {periods}[ {which}], {value}.",
    "level.same.headline": "[{scope}, ]{measure}\u00a0: la même valeur sur les {periods}[ {which}], {value}",
    "season.highest": "[{scope}, ]{label:the} a la valeur la plus élevée de {measure} des {periods} qui se "
    "terminent {last:in}, comme {before:the} pour les précédents.",
    "season.lowest": "[{scope}, ]{label:the} a la valeur la plus basse de {measure} des {periods} qui se "
    "terminent {last:in}, comme {before:the} pour les précédents.",
    "season.unknown": "Avec moins de {periods} complets, la croissance ne se distingue pas d'un effet "
    "saisonnier.",
    "rises.before": "[{scope}, ]{measure}\u00a0: hausse par rapport à la période précédente dans {count} cas "
    "sur {periods}.",
    "rises.groups": "{measure}, hausse par rapport à la période précédente\u00a0: {leaders}.",
    "rises.group": "{label} dans {count} cas sur {periods}",
    "rises.year": "[{scope}, ]{measure}\u00a0: hausse par rapport à la même période de l'année précédente "
    "dans {count} cas sur {periods}.",
    "no_full": "Les données ne couvrent même pas {one} en entier\u00a0: il n'y a rien à comparer.",
    # Outlook
    "forecast": "prévision de {measure}\u00a0: {steps}[\u00a0; lors d'un test sur {periods} à la fin, "
    "l'écart moyen était de {error}]. Les intervalles doivent contenir {covered} des valeurs.",
    "forecast.headline": "prévision de {measure}\u00a0: {steps}",
    "forecast.step": "{value} {period:in} (de {low} à {high})",
    "outliers": "sur {periods}, se démarquent pour {measure}\u00a0: {leaders}.",
    "outliers.headline": "se démarquent pour {measure}\u00a0: {leaders}",
    "outliers.none": "sur {periods}, rien ne se démarque pour {measure}.",
    "outliers.none.headline": "sur {periods}, rien ne se démarque pour {measure}",
    "outliers.one": "{label} ({value}, d'ordinaire de {low} à {high})",
    # Notes
    "partial.begins": "Les données {period:of}[ ({value})] sont partielles\u00a0: elles commencent {day:in}.",
    "partial.ends": "Les données {period:of}[ ({value})] sont partielles\u00a0: elles s'arrêtent {day:in}.",
    "partial.running": "Les données {period:of}[ ({value})] sont partielles\u00a0: la période est encore en "
    "cours {day:in}.",
    "partial.cut": "Les données {period:of}[ ({value})] sont partielles\u00a0: le changement "
    "d'année la coupe.",
    "gaps": "{periods} {periods|n'a|n'ont} aucune ligne\u00a0: {leaders}.",
    "missing": "{rows} {rows|n'a|n'ont} pas de valeur de {measure}.",
    "missing.named": "{leaders} {leaders|n'a|n'ont} pas de valeur de {measure}.",
    "unnamed": f"{{measure}} {{rows|de la ligne|des # lignes}} sans {{label}}\u00a0: {{value}}{_SHARE}.",
    "one_row": "La requête ne garde qu'une ligne\u00a0: une égalité ne se verrait pas.",
    "no_value": "Il n'y avait aucune valeur pour le calculer.",
    "no_rows": "Aucune ligne ne correspond. S'il devrait y en avoir, vérifiez les filtres\u00a0: une valeur "
    "peut s'écrire autrement, ou la période être vide.",
    "notice.cut": "Le résultat a été coupé à {count} lignes\u00a0: tous les chiffres ne portent que sur ces "
    "lignes.",
    "notice.first": "Seules les {shown} premières lignes sur {count} sont disponibles\u00a0: tous les "
    "chiffres portent sur elles.",
    "notice.cut_and_first": "Le résultat a été coupé à {count} lignes, et seules les {shown} premières "
    "lignes sur {count} sont disponibles\u00a0: tous les chiffres portent sur elles.",
    "notice.first_row": "Le résultat a été coupé avant sa première ligne, trop grande pour être conservée.",
    "notice.values": "Certaines valeurs sont trop longues pour être conservées entières\u00a0: leur fin est "
    "coupée.",
    # Computations
    "how.value": "{measure} de {rows}",
    "how.values": "valeurs de {measure} dans {rows}",
    "how.sum": "somme de {measure} sur {rows}",
    "how.share": "part de la somme de {measure} sur {rows}",
    "how.average": "moyenne de {measure} sur {rows}",
    "how.average_sum": "moyenne des sommes de {measure}, sur {rows}",
    "how.median": "médiane de {measure} sur {rows}",
    "how.highest": "valeur la plus élevée de {measure} dans {rows}",
    "how.lowest": "valeur la plus basse de {measure} dans {rows}",
    "how.highest_sum": "somme la plus élevée de {measure}, sur {rows}",
    "how.lowest_sum": "somme la plus basse de {measure}, sur {rows}",
    "how.first": "première ligne par {measure}, dans l'ordre de la requête",
    "how.second": "deuxième place par {measure} dans {rows}",
    "how.order": "ordre par {measure} dans {rows}",
    "how.difference": "écart de {measure} dans {rows}",
    "how.change": "variation de {measure} sur {rows}",
    "how.count": "décompte de {rows}",
    "how.missing": "vérification de {measure} dans {rows}",
    "how.forecast": "prévision à partir de {measure} dans {rows}",
    "how.outliers": "comparaison de {measure} dans {rows} avec saison et tendance",
    "how.note": "remarque sur les lignes et la requête",
    "how.where": "{how} avec {conditions}",
    # Things that are counted
    "day": "{count|# jour|# jours}",
    "week": "{count|# semaine|# semaines}",
    "month": "{count|# mois|# mois}",
    "quarter": "{count|# trimestre|# trimestres}",
    "year": "{count|# an|# ans}",
    "row": "{count|# ligne|# lignes}",
    "column": "{count|# colonne|# colonnes}",
    "value": "{count|# valeur|# valeurs}",
    "point": "{count|# point|# points}",
    # Facts over two results
    "across.more": "Cela fait {amount} de plus[ ({percent})].",
    "across.less": "Cela fait {amount} de moins[ ({percent})].",
    "across.same": "Les deux valeurs sont identiques.",
    "across.how": "calculé à partir de {left} et {right}",
}
