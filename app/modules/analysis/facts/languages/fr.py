"""French statements of facts. `app.modules.analysis.facts.wording` documents the templates."""

from collections.abc import Mapping

_SHARE = "[ ({share} du total de {total})]"
_HAVE = "[{scope}, ][par {by}, ]{leaders:the} {leaders|a|ont}"
_OVER = "[ sur {over}]"
_ALL = "tous ([{count}][{shown} affichés]) ont"

TABLE: Mapping[str, str] = {
    # Around statements
    "reading": "Lecture\u00a0",
    "choice_missing": "La sélection du modèle manque\u00a0:",
    "own_choice": "Ces affirmations ont été choisies par KAI.",
    "left_out.more": "Plus de trois affirmations ont été choisies\u00a0: les autres sont omises.",
    "left_out.statement": "{count|Une affirmation|# affirmations} du modèle {count|est omise|sont omises}"
    "\u00a0: ces lignes ne {count|la|les} donnent pas.",
    "left_out.finding": "{count|Un constat est omis|# constats sont omis}\u00a0: aucun fait ne "
    "{count|le|les} confirme.",
    "left_out.sentence": "{count|Une phrase|# phrases} du modèle {count|est omise|sont omises}\u00a0: "
    "chiffres, noms des lignes et comparaisons ne figurent que dans les faits.",
    "doubts": "Les chiffres peuvent être faux\u00a0:",
    "changed": "La requête a été modifiée\u00a0:",
    "changed.more": "{count} {count|autre modification figure|autres modifications figurent} avec le SQL.",
    "worth_checking": "À vérifier\u00a0:",
    "not_followed": "Non suivi\u00a0:",
    "limited_rows": "Les lignes sont limitées par la règle {rules}.",
    "limit_reached": "**Limite atteinte\u00a0:** l'enquête s'est arrêtée après {limit}. Le reste demeure "
    "ouvert.",
    "no_answer": "L'enquête s'est arrêtée avant d'avoir une réponse.",
    "looked_at": "Ont été consultés\u00a0:",
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
    # Measures, or the things that they count
    "measure.highest": "la valeur la plus élevée de {measure}",
    "things.highest": "le plus grand nombre de {things}",
    "measure.lowest": "la valeur la plus basse de {measure}",
    "things.lowest": "le plus petit nombre de {things}",
    "measure.second_lowest": "la deuxième plus basse valeur de {measure}",
    "things.second_lowest": "le deuxième plus petit nombre de {things}",
    "measure.same": "la même valeur de {measure}",
    "things.same": "le même nombre de {things}",
    "measure.total": "le total de {measure}",
    "things.total": "le nombre total de {things}",
    "measure.average": "la moyenne de {measure}",
    "things.average": "le nombre moyen de {things}",
    "measure.median": "la médiane de {measure}",
    "things.median": "la médiane du nombre de {things}",
    # Values and rankings
    "values": "{pairs}[ et {more} {more|autre colonne|autres colonnes}].",
    "value.of": f"{{measure}} {{label:of}}{_OVER}\u00a0: {{value}}{_SHARE}.",
    "highest": f"{_HAVE} {{measure:highest}}{_OVER}\u00a0: {{value}}{{leaders|| chacun}}{_SHARE}.",
    "lowest": f"{_HAVE} {{measure:lowest}}{_OVER}\u00a0: {{value}}{{leaders|| chacun}}{_SHARE}.",
    "second": "[{scope}, ]{leaders:the} {leaders|a|ont} la deuxième plus haute valeur de {measure}"
    "[ sur {over}]\u00a0: {value}.",
    "second.low": f"{_HAVE} {{measure:second_lowest}}{_OVER}\u00a0: {{value}}.",
    "order": "[{scope}, ]les {leaders|#|#} valeurs les plus élevées de {measure} sont, dans l'ordre, celles "
    "de {leaders}.",
    "order.headline": "[{scope}, ]valeurs les plus élevées de {measure}\u00a0: {leaders}",
    "order.low": "[{scope}, ]les {leaders|#|#} valeurs les plus basses de {measure} sont, dans l'ordre, "
    "celles de {leaders}.",
    "order.low.headline": "[{scope}, ]valeurs les plus basses de {measure}\u00a0: {leaders}",
    "next": "[{scope}, ]{leaders|vient|viennent} ensuite pour {measure}{leaders||, dans l'ordre,} {leaders}.",
    "winners.highest": "{measure:highest} par {label}\u00a0: {leaders}.",
    "winners.lowest": "{measure:lowest} par {label}\u00a0: {leaders}.",
    "winners.highest.headline": "{measure:highest} par {label}[, d'abord {top}]",
    "winners.lowest.headline": "{measure:lowest} par {label}[, d'abord {top}]",
    "gap": "{label} devance {other} de {difference} pour {measure}[, soit {points} du total].",
    "gap.low": "{label} est {difference} en dessous de {other} pour {measure}[, soit {points} du total].",
    "compared": "{measure} dépasse {other} dans {count} cas sur {rows}"
    "[, surtout pour {named}][, et reste en dessous pour {leaders}].",
    "compared.headline": "{measure} dépasse {other} dans {count} cas sur {rows}",
    "compared.pair": "{label} ({value} contre {other})",
    "compared.total": "sur {rows}, {measure} est de {new} et {other} de {old}[\u00a0: un écart de "
    "{difference}][ ({change})].",
    "compared.above": "{measure} dépasse {other} de {difference}[ ({change})]\u00a0: {new} contre {old}.",
    "compared.below": "{measure} reste en dessous de {other} de {difference}[ ({change})]\u00a0: "
    "{new} contre {old}.",
    "compared.equal": "{measure} et {other} sont égaux\u00a0: {new}.",
    "leader": "[{scope}, ]{label} a la valeur la plus élevée pour {measures}.",
    "same": "{leaders} ont {measure:same}\u00a0: {value}.",
    "same.all": f"{_ALL} {{measure:same}}{_OVER}\u00a0: {{value}}.",
    "same.nearly": f"{_ALL} pratiquement {{measure:same}}{_OVER}[\u00a0: de {{low}} à {{value}}].",
    # All values of a measure
    "total": f"{{measure:total}}{_OVER}[ dans ce qui est affiché ({{shown}})] est de {{value}}.",
    "average": "{measure:average} sur {rows} est de {value}.",
    "median": "{measure:median} sur {rows} est de {value}.",
    "highest.short": "{measure}\u00a0: {leaders}, {value}",
    "lowest.short": "{measure}\u00a0: {leaders}, {value}",
    "winners.highest.short": "{measure}\u00a0: {top}",
    "winners.lowest.short": "{measure}\u00a0: {top}",
    "below_zero": "{count} sur {rows} {count|a|ont} une valeur de {measure} inférieure à zéro"
    "[\u00a0: {named}].",
    "spread": "[{scope}, ]{measure}\u00a0: de {low} à {high}[, avec une moyenne de {average}].",
    "spread.same": "[{scope}, ]les {rows} ont {measure:same}\u00a0: {value}.",
    # Lists
    "count": "{rows} avec {columns}[ et {more} {more|autre colonne|autres colonnes}].",
    "count.where": "{count} sur {rows} {count|a|ont} {conditions}.",
    "latest": "[{scope}, ]{leaders} {leaders|a|partagent} la valeur la plus récente de "
    "{measure}\u00a0: {value}"
    "[\u00a0; la liste de {count} se termine par {other} ({last})].",
    "earliest": "[{scope}, ]{leaders} {leaders|a|partagent} la valeur la plus ancienne de "
    "{measure}\u00a0: {value}"
    "[\u00a0; la liste de {count} se termine par {other} ({last})].",
    "dates": "par {measure}, les {rows}[ {which}] vont {span:from}.",
    "frequent": "{leaders} {leaders|est la valeur la plus fréquente|sont les valeurs les plus fréquentes} de "
    "{measure}[\u00a0: {count}{leaders|| chacune} sur {rows}].",
    # Time
    "change.rose": "[{scope}, ]{measure} {span:of}\u00a0: hausse de {change} {before:on}, de {old} à {new}.",
    "change.rose.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: hausse de {change} {base:on}",
    "change.fell": "[{scope}, ]{measure} {span:of}\u00a0: baisse de {change} {before:on}, de {old} à {new}.",
    "change.fell.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: baisse de {change} {base:on}",
    "change.near": "[{scope}, ]{span:the} et {before:the} ont pratiquement "
    "{measure:same}\u00a0: {new} et {old}.",
    "change.near.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: pratiquement inchangé {base:on}",
    "change.equal": "[{scope}, ]{span:the} et {before:the} ont {measure:same}\u00a0: {new}.",
    "change.equal.headline": "[{scope}, ]{measure}[ {at:in}]\u00a0: inchangé {base:on}, {new}",
    "change.base": "sur un an",
    "change.base.hour": "sur un jour",
    "grew": "{label} progresse le plus pour {measure}\u00a0: de {old} ({before}) à {new} ({span})"
    "[\u00a0; {other} recule le plus, de {first} à {last}].",
    "level": "[{scope}, ]{measure} sur les {periods}[ {which}]\u00a0: [{average} en moyenne, ]entre {low}"
    "[ ({low_at})] et {high}[ ({high_at})][, de {first} au début à {last} à la fin].",
    "level.same": "[{scope}, ]{measure}\u00a0: la même valeur sur les {periods}[ {which}], {value}.",
    "running": "{measure} jusqu'{label:to}\u00a0: {value}.",
    "season.highest": "[{scope}, ]{label:the} a {measure:highest} des {periods} qui se terminent {last:in}, "
    "comme {before:the} pour les précédents.",
    "season.lowest": "[{scope}, ]{label:the} a {measure:lowest} des {periods} qui se terminent {last:in}, "
    "comme {before:the} pour les précédents.",
    "season.unknown": "Avec moins de {periods} complets, la croissance ne se distingue pas d'un effet "
    "saisonnier.",
    "scale.rises": "quand {label} augmente, {measure} augmente dans {count} cas sur {steps}"
    "\u00a0: de {old} (à {before}) à {new} (à {after}).",
    "scale.rises.headline": "quand {label} augmente, {measure} augmente dans {count} cas sur {steps}",
    "scale.falls": "quand {label} augmente, {measure} diminue dans {count} cas sur {steps}"
    "\u00a0: de {old} (à {before}) à {new} (à {after}).",
    "scale.falls.headline": "quand {label} augmente, {measure} diminue dans {count} cas sur {steps}",
    "courses": "{measure} {span:from}\u00a0: {leaders}.",
    "courses.headline": "{measure} de {groups} groupes {span:from}",
    "courses.pair": "{label} de {old} à {new}",
    "rises.before": "[{scope}, ]{measure}\u00a0: hausse par rapport à la période précédente dans {count} cas "
    "sur {periods}.",
    "rises.groups": "{measure}, hausse par rapport à la période précédente\u00a0: {leaders}.",
    "rises.group": "{label} dans {count} cas sur {periods}",
    "rises.year": "[{scope}, ]{measure}\u00a0: hausse par rapport à la même période de l'année précédente "
    "dans {count} cas sur {periods}.",
    "rises.day": "[{scope}, ]{measure}\u00a0: hausse par rapport à la même heure de la veille "
    "dans {count} cas sur {periods}.",
    "no_full": "Les données ne couvrent même pas {one} en entier\u00a0: il n'y a rien à comparer.",
    # Outlook
    "forecast": "prévision de {measure}\u00a0: {steps}[\u00a0; lors d'un test sur {periods} à la fin, "
    "l'écart moyen était de {error}][. Les intervalles doivent contenir {covered} des valeurs].",
    "forecast.step": "{value} {period:in} (de {low} à {high})",
    "outliers": "sur {periods}, se démarquent pour {measure}\u00a0: {leaders}.",
    "outliers.none": "sur {periods}, rien ne se démarque pour {measure}.",
    "outliers.one": "{label} ({value}, d'ordinaire de {low} à {high})",
    # Notes
    "partial.begins": "Les données {period:of}[ ({value})] sont partielles[\u00a0: "
    "elles commencent {day:in}].",
    "partial.ends": "Les données {period:of}[ ({value})] sont partielles[\u00a0: elles s'arrêtent {day:in}].",
    "partial.since": "Les données {period:of}[ ({value})] sont partielles\u00a0: seuls comptent "
    "les jours à partir du {day}.",
    "partial.until": "Les données {period:of}[ ({value})] sont partielles\u00a0: seuls comptent "
    "les jours jusqu'au {day}.",
    "partial.running": "Les données {period:of}[ ({value})] sont partielles\u00a0: la période est encore en "
    "cours {day:in}.",
    "partial.ahead": "{leaders:the} {leaders|est|sont} dans le futur.",
    "partial.cut": "Les données {period:of}[ ({value})] sont partielles\u00a0: le changement "
    "d'année la coupe.",
    "gaps": "{periods} {periods|n'a|n'ont} aucune ligne\u00a0: {leaders}.",
    "missing": "{rows} {rows|n'a|n'ont} pas de valeur de {measure}.",
    "missing.named": "{leaders} {leaders|n'a|n'ont} pas de valeur de {measure}.",
    "unnamed": f"{{measure}} {{rows|de la ligne|des # lignes}} sans {{label}}\u00a0: {{value}}{_SHARE}.",
    "unnamed.flag": f"{{measure}} de valeur inconnue pour {{label}}\u00a0: {{value}}{_SHARE}.",
    "one_row": "La requête ne garde qu'une ligne\u00a0: une égalité ne se verrait pas.",
    "no_value": "Il n'y avait aucune valeur pour le calculer.",
    "no_rows.headline": "Aucune ligne ne correspond",
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
    "hour": "{count|# heure|# heures}",
    "day": "{count|# jour|# jours}",
    "week": "{count|# semaine|# semaines}",
    "month": "{count|# mois|# mois}",
    "quarter": "{count|# trimestre|# trimestres}",
    "year": "{count|# an|# ans}",
    "limit.steps": "{count|# étape|# étapes}",
    "limit.calls": "{count|# appel d'outil|# appels d'outils}",
    "limit.tokens": "{count|# jeton|# jetons}",
    "limit.seconds": "{count|# seconde|# secondes}",
    "limit.replies": "{count|# réponse inutilisable|# réponses inutilisables de suite}",
    "row": "{count|# ligne|# lignes}",
    "point": "{count|# point|# points}",
    # Facts over two results
    "across.more": "Cela fait {amount} de plus[ ({percent})].",
    "across.less": "Cela fait {amount} de moins[ ({percent})].",
    "across.same": "Les deux valeurs sont identiques.",
    "across.how": "calculé à partir de {left} et {right}",
}
