"""Formats and sentences of the four languages."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

import pytest
from pydantic import JsonValue

from app.core.language import LANGUAGES, Language
from app.modules.analysis.facts import FactSheet, languages
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import (
    Amount,
    Counted,
    MeasureName,
    Names,
    Percent,
    PeriodSpan,
    Points,
    Slot,
    TitledName,
    Wording,
)
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.calendar import UNITS, Period, period_of
from app.modules.analysis.formats import Formats, unit_of, unit_of_column
from app.modules.analysis.words import label
from app.modules.run.notices import first_line
from graph.state import Column, Rows

OCTOBER = Period(date(2026, 10, 1), "month")
DAY = Period(date(2026, 11, 23), "day")


def said(monkeypatch: pytest.MonkeyPatch, template: str, language: Language = "en", **slots: Slot) -> str:
    """The sentence of a template that stands in the table of one language."""
    monkeypatch.setitem(languages.TABLES, language, {**languages.TABLES[language], "trial": template})
    return Wording(language).say("trial", **slots)


@pytest.mark.parametrize(
    ("value", "en", "de"),
    [
        ("262572.11", "262,572.11", "262.572,11"),
        ("12.5", "12.50", "12,50"),
        ("12", "12", "12"),
        ("-1234", "-1,234", "-1.234"),
        ("0.012345", "0.0123", "0,0123"),
        ("0.5", "0.5", "0,5"),
        ("2.675", "2.68", "2,68"),
        ("123456789012345678901.125", "123,456,789,012,345,678,901.13", "123.456.789.012.345.678.901,13"),
    ],
)
def test_amounts_have_two_decimals_from_one_on_and_three_digits_below(value: str, en: str, de: str) -> None:
    assert Formats("en").amount(Decimal(value)) == en
    assert Formats("de").amount(Decimal(value)) == de


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        ("0.38579", "38.6%"),
        ("0.5", "50%"),
        ("0.99998", "99.998%"),
        ("1", "100%"),
        ("0.000042", "0.0042%"),
        ("12.3456", "1,235%"),
        ("0", "0%"),
    ],
)
def test_percentages_never_read_as_none_or_all_of_it_unless_they_are(ratio: str, text: str) -> None:
    assert Formats("en").percent(Decimal(ratio)) == text


def test_a_value_just_below_all_is_not_written_as_all() -> None:
    assert Formats("en").amount(Decimal("0.999999"), "ratio") == "99.9999%"
    assert Formats("en").amount(Decimal("100.00"), "percent") == "100%"


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ("1,234.5%", "€1,234.50", "$0.125")),
        ("de", ("1.234,5\xa0%", "1.234,50\xa0€", "0,125\xa0$")),
        ("es", ("1.234,5\xa0%", "1.234,50\xa0€", "0,125\xa0US$")),
        ("fr", ("1\u202f234,5\xa0%", "1\u202f234,50\xa0€", "0,125\xa0$US")),
    ],
)
def test_percentages_and_currencies_follow_the_language(language: Language, texts: tuple[str, ...]) -> None:
    formats = Formats(language)
    value = Decimal("1234.5")
    assert (
        formats.amount(value, "percent"),
        formats.amount(value, "EUR"),
        formats.amount(Decimal("0.125"), "USD"),
    ) == texts


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("discount_pct", ("5", "12.5"), "percent"),
        ("growth_percent", ("0.05", "0.12"), None),
        ("market_share", ("0.4", "0.6"), "ratio"),
        ("market_share", ("40", "60"), None),
        ("shares", ("0.5",), None),
        ("amount_eur", ("5",), "EUR"),
        ("PriceUSD", ("5",), "USD"),
        ("total_euros", ("5",), "EUR"),
        ("eur_usd_rate", ("1.1",), None),
        ("usd_rate", ("1.1",), None),
        ("revenue", ("5",), None),
        ("europe", ("5",), None),
    ],
)
def test_a_unit_is_shown_only_where_name_and_values_tell_it(
    name: str, values: tuple[str, ...], unit: str | None
) -> None:
    assert unit_of(name, [Decimal(each) for each in values]) == unit


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("churn_rate", ["0.429", "0"], "ratio"),
        ("retourenquote", ["0.2", "1"], "ratio"),
        ("anteil_app", ["0.2"], "ratio"),
        ("tasa_de_devolucion", ["0.2"], "ratio"),
        ("taux_retour", ["0.2"], "ratio"),
        ("Loss Ratio", ["0.43"], "ratio"),
        ("churn_rate", ["0.429", "1.1"], None),
        ("churn_rate", ["0", "1"], None),
        ("churn_rate", ["-0.2", "0.4"], None),
        ("exchange_rate", ["0.95"], None),
        ("taux_de_change", ["0.95"], None),
        ("rate_usd", ["0.95"], None),
        ("weight", ["0.95"], None),
        ("share", ["0.5", "-0.5"], "ratio"),
        ("refund rate (%)", ["13.86", "0"], "percent"),
        ("share of orders (%)", ["0.4", "0"], "percent"),
        ("change (%)", ["-3", "0.5"], "percent"),
    ],
)
def test_a_column_named_as_a_share_holds_shares_if_all_values_are_of_one(
    name: str, values: list[str], unit: str | None
) -> None:
    assert unit_of_column(name, [Decimal(each) for each in values]) == unit


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en",
            (
                *("23 November 2026, 17:00", "23 November 2026", "week 48 of 2026", "November 2026"),
                *("Q4 2026", "2026"),
            ),
        ),
        (
            "de",
            (
                *("23. November 2026, 17:00", "23. November 2026", "Woche 48 des Jahres 2026"),
                *("November 2026", "4. Quartal 2026", "2026"),
            ),
        ),
        (
            "es",
            (
                *("23 de noviembre de 2026, 17:00", "23 de noviembre de 2026", "semana 48 de 2026"),
                *("noviembre de 2026", "4.º trimestre de 2026", "2026"),
            ),
        ),
        (
            "fr",
            (
                *("23 novembre 2026, 17:00", "23 novembre 2026", "semaine 48 de 2026", "novembre 2026"),
                *("4e trimestre 2026", "2026"),
            ),
        ),
    ],
)
def test_periods_are_named_as_people_say_them(language: Language, texts: tuple[str, ...]) -> None:
    moment = datetime.fromisoformat("2026-11-23T17:45")
    assert tuple(Formats(language).period(period_of(moment, unit)) for unit in UNITS) == texts


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ("in October 2026", "on 23 November 2026", "January to October 2026")),
        ("de", ("im Oktober 2026", "am 23. November 2026", "Januar bis Oktober 2026")),
        ("es", ("en octubre de 2026", "el 23 de noviembre de 2026", "enero a octubre de 2026")),
        ("fr", ("en octobre 2026", "le 23 novembre 2026", "janvier à octobre 2026")),
    ],
)
def test_periods_have_the_preposition_of_their_language(language: Language, texts: tuple[str, ...]) -> None:
    formats = Formats(language)
    january = Period(date(2026, 1, 1), "month")
    assert (formats.period(OCTOBER, "in"), formats.period(DAY, "in"), formats.span(january, OCTOBER)) == texts


def test_french_words_lose_their_vowel_before_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Formats("fr").period(OCTOBER, "of") == "d'octobre 2026"
    assert Formats("fr").period(Period(date(2026, 5, 1), "month"), "of") == "de mai 2026"
    assert Formats("fr").title("order_count") == "nombre d'orders"
    names = Names(["Italie"], bold=True)
    assert said(monkeypatch, "Celui de {names}.", "fr", names=names) == "Celui d'**Italie**."


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "A, B and 3 more"),
        ("de", "A, B und 3 weitere"),
        ("es", "A, B y 3 más"),
        ("fr", "A, B et 3 autres"),
    ],
)
def test_lists_have_no_serial_comma_and_count_the_rest(language: Language, text: str) -> None:
    assert Formats(language).listed(["A", "B"], 3) == text


def test_the_spanish_and_changes_before_its_own_vowel() -> None:
    assert Formats("es").listed(["Francia", "Italia"]) == "Francia e Italia"
    assert Formats("es").listed(["agua", "hielo"]) == "agua y hielo"


@pytest.mark.parametrize(
    ("name", "en", "de"),
    [
        ("count(*)", "number of rows", "Anzahl der Zeilen"),
        ("order_count", "number of orders", "Anzahl Orders"),
        ("num_categories", "number of categories", "Anzahl Categories"),
        ("NumberOfOrders", "number of orders", "Anzahl Orders"),
        ("avg(price)", "average price", "Durchschnitt von Price"),
        ("sum(amount)", "total amount", "Summe von Amount"),
        ("late_pct", "late percentage", "Late Prozent"),
        ("margin_avg", "margin average", "Margin Average"),
        ("umsatz_pro_kunde", "umsatz pro kunde", "Umsatz pro Kunde"),
        ("profit_minus_plan", "profit minus plan", "Profit minus Plan"),
        ("amount_eur", "amount EUR", "Amount EUR"),
    ],
)
def test_columns_have_titles_in_words(name: str, en: str, de: str) -> None:
    assert Formats("en").title(name) == en
    assert Formats("de").title(name) == de


def test_yes_no_and_missing_values_are_words_of_the_language() -> None:
    cells = (True, False, None, " ")
    assert [Formats("de").cell(each) for each in cells] == ["ja", "nein", "(kein Wert)", "(leer)"]
    assert [Formats("es").cell(each) for each in cells] == ["sí", "no", "(sin valor)", "(vacío)"]
    assert Formats("fr").cell("a*b") == "a\\*b"


def test_a_count_of_rows_counts_what_the_rows_are() -> None:
    assert [Formats(each).title("count_star()", "orders") for each in LANGUAGES] == [
        *("number of orders", "Anzahl Orders", "número de orders", "nombre d'orders")
    ]


def test_a_statement_begins_with_a_capital_unless_it_begins_with_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = Names(["iPhone"])
    assert said(monkeypatch, "{measure} fell.", measure="revenue") == "Revenue fell."
    assert said(monkeypatch, "{leaders} fell.", leaders=names) == "iPhone fell."
    assert said(monkeypatch, "[{leaders} ]fell.", leaders=None) == "Fell."
    assert said(monkeypatch, "{label} fell.", label="eBay") == "eBay fell."
    assert said(monkeypatch, "[by {by}, ]{leaders} fell.", by=None, leaders=names) == "iPhone fell."
    assert (
        said(monkeypatch, "[by {by}, ]{leaders} fell.", by="region", leaders=names)
        == "By region, iPhone fell."
    )
    assert said(monkeypatch, "**{pair}**.", pair="revenue: 5") == "**Revenue: 5**."
    assert said(monkeypatch, "sum of {measure}", measure="revenue") == "sum of revenue"


def test_a_label_that_begins_with_its_columns_title_begins_a_sentence_with_a_capital(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = Names([TitledName("grade 3"), TitledName("grade 4")], bold=True)
    assert said(monkeypatch, "{leaders} lead.", leaders=names) == "**Grade 3** and **grade 4** lead."
    assert said(monkeypatch, "{label} leads.", label=TitledName("paid = no")) == "Paid = no leads."


def test_a_part_in_brackets_goes_where_its_slot_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{value}[, {share} of the total]."
    assert said(monkeypatch, template, value=5, share=Percent(Decimal("0.386"))) == "5, 38.6% of the total."
    assert said(monkeypatch, template, value=5, share=None) == "5."


def test_a_missing_slot_or_template_is_an_error_where_text_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(languages.TABLES, "en", {"trial": "{value}."})
    with pytest.raises(ValueError, match="trial lacks a slot"):
        Wording("en").say("trial", value=None)
    with pytest.raises(KeyError):
        Wording("en").say("another")


def test_a_form_follows_the_count_of_its_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{leaders} {leaders|has|share} {months}."
    one = said(monkeypatch, template, leaders=Names(["A"]), months=Counted(1, "month"))
    several = said(monkeypatch, template, leaders=Names(["A", "B"], more=2), months=Counted(1200, "month"))
    assert one == "A has 1 month."
    assert several == "A, B and 2 more share 1,200 months."
    assert said(monkeypatch, "{count|# ligne|# lignes}.", "fr", count=0) == "0 ligne."
    assert said(monkeypatch, "in {months:dative}", "de", months=Counted(11, "month")) == "in 11 Monaten"
    assert said(monkeypatch, "{things}", things=Counted(15, "countries")) == "15 countries"


def test_points_agree_with_the_number_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, "{gap}", gap=Points(Decimal("1.02"))) == "1 point"
    assert said(monkeypatch, "{gap}", "de", gap=Points(Decimal("16.44"))) == "16,4 Prozentpunkte"


def test_slots_are_written_by_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, "{value}", value=Amount(Decimal(5), "price_eur")) == "€5"
    assert said(monkeypatch, "{value}", value=Amount(Decimal("0.25"), "share", "ratio")) == "25%"
    assert said(monkeypatch, "{change}", change=Percent(Decimal("0.164"), signed=True)) == "+16.4%"
    assert said(monkeypatch, "{day}", day=DAY.start) == "23 November 2026"
    assert said(monkeypatch, "{when:in}", when=PeriodSpan(OCTOBER, OCTOBER)) == "in October 2026"


# Tables


_FORMS = (".dative", ".complete", ".the")


def slots_of(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", template))


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_have_the_same_templates_with_the_same_slots(language: Language) -> None:
    english = {name: each for name, each in languages.TABLES["en"].items() if not name.endswith(_FORMS)}
    table = {name: each for name, each in languages.TABLES[language].items() if not name.endswith(_FORMS)}
    assert {name: slots_of(each) for name, each in table.items()} == {
        name: slots_of(each) for name, each in english.items()
    }


_NAMED = ("label", "other", "at", "before", "span", "base", "period", "day", "one", "columns", "scope")
ORDINARY: dict[str, Slot] = {
    **dict.fromkeys(_NAMED, "West"),
    "rules": "*own region*",
    **dict.fromkeys(("leaders", "measures"), Names(["West", "North"], bold=True)),
    **dict.fromkeys(("value", "low", "high", "difference", "new", "old"), Amount(Decimal("262572.11"))),
    **dict.fromkeys(("which", "conditions", "statement"), "revenue"),
    "measure": MeasureName("revenue", None),
    "pairs": "Revenue: 5",
    "steps": Names(["5 in June (1 to 9)"]),
    "after": "West",
    "groups": 3,
    **dict.fromkeys(("change", "amount", "percent"), Percent(Decimal("0.164"))),
    "count": 12,
    "last": "West",
    **dict.fromkeys(("rows", "shown"), Counted(24, "row")),
    "periods": Counted(12, "month"),
    "limit": Counted(12, "limit.steps"),
}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "**Limit reached:** the investigation ended after 1,000 tokens. The rest stays open."),
        ("de", "**Grenze erreicht:** Die Untersuchung endete nach 1.000 Tokens. Der Rest bleibt offen."),
        ("es", "**Límite alcanzado:** la investigación terminó tras 1.000 tokens. Lo demás queda abierto."),
        ("fr", "**Limite atteinte :** l'enquête s'est arrêtée après 1 000 jetons. Le reste demeure ouvert."),
    ],
)
def test_a_limit_that_ends_an_investigation_is_said_in_the_language_of_its_question(
    language: Language, text: str
) -> None:
    said = Wording(language).say("limit_reached", limit=Counted(1000, "limit.tokens"))
    assert said.replace("\u00a0", " ").replace("\u202f", " ") == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_statement_has_a_headline_of_at_most_twelve_words(language: Language) -> None:
    wording = Wording(language)
    statements = [name for name, each in languages.TABLES[language].items() if each.endswith(".")]
    headlines = {name: wording.headline(name, **ORDINARY) for name in statements}
    assert {name: text for name, text in headlines.items() if len(text.split(" ")) > 12} == {}
    assert not any(text.endswith(".") or "**" in text for text in headlines.values())


def test_a_headline_names_fewer_before_its_end_is_cut() -> None:
    names = Names([f"Branch Office Number {each}" for each in range(4)], bold=True)
    same = Wording("en").headline("same", leaders=names, measure=MeasureName("revenue", None), value=5)
    assert same == "Branch Office Number 0 and 3 more have the same revenue: 5"
    long = " ".join(["Long"] * 20)
    headline = Wording("en").headline("frequent", leaders=Names([long]), measure="x", count=None)
    assert headline.endswith("Long…")
    assert len(headline.split(" ")) == 12


@pytest.mark.parametrize(
    ("language", "headline"),
    [
        ("en", "Recommendation rate: Dr. Sofía Ruiz, 12"),
        ("de", "Recommendation rate: Dr. Sofía Ruiz, 12"),
        ("es", "Recommendation rate: Dr. Sofía Ruiz, 12"),
        ("fr", "Recommendation rate\u00a0: Dr. Sofía Ruiz, 12"),
    ],
)
def test_a_headline_is_worded_shorter_rather_than_cut_before_its_number(
    language: Language, headline: str
) -> None:
    slots: dict[str, Slot] = {
        "scope": "of the five women and men who were asked about it in May",
        "leaders": Names(["Dr. Sofía Ruiz"], bold=True),
        "measure": MeasureName("recommendation rate", None),
        "value": 12,
    }
    assert Wording(language).headline("lowest", **slots) == headline


def test_a_headline_that_would_lose_its_number_is_none() -> None:
    long = " ".join(["Long"] * 20)
    assert Wording("en").headline("gap", label=long, other="B", measure="x", difference=2) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_statement_ends_in_one_full_stop_and_every_headline_in_none(language: Language) -> None:
    table = languages.TABLES[language]
    for name in table:
        if name.endswith(".headline"):
            assert not table[name].endswith("."), name
            assert table.get(name.removesuffix(".headline"), ".").endswith("."), name
        if name.endswith(".short"):
            assert not table[name].endswith("."), name
            assert table[name.removesuffix(".short")].endswith("."), name


# Sheets


def plain(text: str) -> str:
    """The text with the spaces of languages as plain ones."""
    return text.replace("\xa0", " ").replace("\u202f", " ")


def sheet(language: Language, columns: Sequence[tuple[str, str]], data: list[list[JsonValue]]) -> FactSheet:
    rows = Rows(
        columns=[Column(name=name, type=kind) for name, kind in columns],
        rows=data,
        row_count=len(data),
        truncated=False,
    )
    label, value = columns[0][0], columns[1][0]
    sql = f"SELECT {label}, sum(x) AS {value} FROM sales GROUP BY {label}"
    found = figures(f"{value} by {label}", sql, "duckdb", rows=rows, today=date(2026, 11, 28))
    return fact_sheet(FactTable(question="", rows=rows, found=found, wording=Wording(language)))


@pytest.mark.parametrize(
    ("language", "statement", "headline"),
    [
        (
            "en",
            "**iPad** has the highest cost: €2,000.50, 80% of the total of €2,500.50.",
            "iPad has the highest cost: €2,000.50",
        ),
        (
            "de",
            "**iPad** hat den höchsten Wert bei Cost: 2.000,50 € (80 % der Gesamtsumme von 2.500,50 €).",
            "iPad hat den höchsten Wert bei Cost: 2.000,50 €",
        ),
        (
            "es",
            "**iPad** tiene el valor más alto de cost: 2.000,50 € (80 % del total de 2.500,50 €).",
            "iPad tiene el valor más alto de cost: 2.000,50 €",
        ),
        (
            "fr",
            "**iPad** a la valeur la plus élevée de cost : 2 000,50 € (80 % du total de 2 500,50 €).",
            "iPad a la valeur la plus élevée de cost : 2 000,50 €",
        ),
    ],
)
def test_a_ranking_is_worded_in_each_language(language: Language, statement: str, headline: str) -> None:
    columns = [("product", "text"), ("cost_eur", "number")]
    first = sheet(language, columns, [["iPad", 2000.5], ["Nokia", 500]]).lead[0]
    assert (plain(first.statement), plain(first.headline)) == (statement, headline)


MOST: Sequence[tuple[Language, str, str]] = [
    ("en", "sessions", "A has the most sessions: 9"),
    ("en", "units_sold", "A has the most units sold: 9"),
    ("en", "total_views", "A has the most views: 9"),
    ("en", "sales", "A has the highest sales: 9"),
    ("en", "days", "A has the highest days: 9"),
    ("en", "price_points", "A has the highest price points: 9"),
    ("de", "bestellungen", "A hat die meisten Bestellungen: 9"),
    ("de", "anzahl_kunden", "A hat die meisten Kunden: 9"),
    ("de", "gewinn", "A hat den höchsten Wert bei Gewinn: 9"),
    ("es", "unidades", "A tiene el mayor número de unidades: 9"),
    ("es", "numero_de_pedidos", "A tiene el mayor número de pedidos: 9"),
    ("es", "ventas", "A tiene el valor más alto de ventas: 9"),
    ("fr", "nombre_de_clients", "A a le plus grand nombre de clients : 9"),
    ("fr", "chiffre_affaires", "A a la valeur la plus élevée de chiffre d'affaires : 9"),
]


@pytest.mark.parametrize(("language", "name", "headline"), MOST)
def test_what_can_be_counted_is_most_and_amounts_are_highest(
    language: Language, name: str, headline: str
) -> None:
    first = sheet(language, [("team", "text"), (name, "integer")], [["A", 9], ["B", 2]]).lead[0]
    assert plain(first.headline) == headline


def test_a_fraction_is_no_count() -> None:
    first = sheet("en", [("team", "text"), ("points", "number")], [["A", 9.5], ["B", 2]]).lead[0]
    assert first.headline == "A has the highest points: 9.5"


@pytest.mark.parametrize(
    ("language", "same", "total"),
    [
        ("en", "B and C have the same number of orders: 3.", "The total number of orders is 16."),
        ("de", "B und C haben gleich viele Orders: 3.", "Die Gesamtzahl der Orders beträgt 16."),
        ("es", "B y C tienen el mismo número de orders: 3.", "El número total de orders es 16."),
        ("fr", "B et C ont le même nombre d'orders : 3.", "Le nombre total d'orders est de 16."),
    ],
)
def test_numbers_of_things_are_worded_in_each_language(language: Language, same: str, total: str) -> None:
    columns = [("team", "text"), ("order_count", "integer")]
    facts = sheet(language, columns, [["A", 9], ["B", 3], ["C", 3], ["D", 1]]).facts
    assert {same, total} <= {plain(fact.statement) for fact in facts}


@pytest.mark.parametrize(
    ("sql", "headline"),
    [
        ("SELECT city, count(*) AS n FROM orders GROUP BY city", "A has the most orders: 9"),
        (
            "SELECT city, count(*) AS n FROM a JOIN b USING (id) GROUP BY city",
            "A has the highest number of rows: 9",
        ),
        ("SELECT city, count(email) AS n FROM orders GROUP BY city", "A has the highest n: 9"),
    ],
)
def test_a_short_name_of_a_count_of_rows_is_said_in_words(sql: str, headline: str) -> None:
    columns = [Column(name="city", type="text"), Column(name="n", type="integer")]
    rows = Rows(columns=columns, rows=[["A", 9], ["B", 3]], row_count=2, truncated=False)
    found = figures("how many per city?", sql, "duckdb", rows=rows)
    assert (
        fact_sheet(FactTable(question="", rows=rows, found=found, wording=Wording("en"))).lead[0].headline
        == headline
    )


def test_rows_of_one_name_are_distinguished_by_another_column() -> None:
    columns = [Column(name=name, type="text") for name in ("name", "warehouse")]
    rows = Rows(
        columns=[*columns, Column(name="stock", type="integer")],
        rows=[["Shears", "Leeds", 3], ["Shears", "Bristol", 9], ["Hose", "Leeds", 1]],
        row_count=3,
        truncated=False,
    )
    found = figures("stock", "SELECT name, warehouse, stock FROM stock", "duckdb", rows=rows)
    said = " ".join(
        fact.statement
        for fact in fact_sheet(FactTable(question="", rows=rows, found=found, wording=Wording("en"))).facts
    )
    assert "Shears / Bristol" in said
    assert "(row" not in said


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("Baker & Sons", "Baker & Sons"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("wood_glue_500", "wood_glue_500"),
        ("_a_", "\\_a\\_"),
        ("#1", "#1"),
        ("# one", "\\# one"),
        ("a" * 61, "a" * 59 + "…"),
        ("a" * 58 + " bcd", "a" * 58 + "…"),
    ],
)
def test_only_what_markdown_would_read_is_escaped(cell: str, text: str) -> None:
    assert label(cell) == text


@pytest.mark.parametrize(
    ("language", "statement"),
    [
        ("en", "Orders in 2025 rose by 20% on 2024, from 1,200 to 1,440."),
        ("de", "Orders im Jahr 2025: Anstieg um 20\xa0% gegenüber 2024, von 1.200 auf 1.440."),
        ("es", "Orders de 2025: aumento de 20\xa0% frente a 2024, de 1.200 a 1.440."),
        ("fr", "Orders de 2025\xa0: hausse de 20\xa0% par rapport à 2024, de 1\u202f200 à 1\u202f440."),
    ],
)
def test_a_change_is_worded_in_each_language(language: Language, statement: str) -> None:
    years = {2024: 100, 2025: 120}
    months: list[list[JsonValue]] = [
        [f"{year}-{month:02}-01", count] for year, count in years.items() for month in range(1, 13)
    ]
    columns = [("month", "date"), ("orders", "integer")]
    assert sheet(language, columns, months).lead[0].statement == statement


def test_a_period_begins_a_sentence_with_a_capital(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names([Formats("es").period(OCTOBER)], bold=True)
    assert said(monkeypatch, "{leaders} sube.", "es", leaders=names) == "**Octubre de 2026** sube."
    names = Names([Formats("en").period(Period(date(2026, 3, 16), "week"))])
    assert said(monkeypatch, "{leaders} rose.", leaders=names) == "Week 12 of 2026 rose."


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "**Q4 2026** and **23 November 2026**, 5 in Q4 2026."),
        ("de", "Das **4. Quartal 2026** und der **23. November 2026**, 5 im 4. Quartal 2026."),
        (
            "es",
            "El **4.º trimestre de 2026** y el **23 de noviembre de 2026**, 5 del 4.º trimestre de 2026.",
        ),
        ("fr", "Le **4e trimestre 2026** et le **23 novembre 2026**, 5 du 4e trimestre 2026."),
    ],
)
def test_periods_in_lists_have_their_articles(
    monkeypatch: pytest.MonkeyPatch, language: Language, text: str
) -> None:
    quarter = period_of(DAY.start, "quarter")
    slots: dict[str, Slot] = {"leaders": Names([quarter, DAY], bold=True), "label": quarter}
    assert said(monkeypatch, "{leaders:the}, 5 {label:of}.", language, **slots) == text


def test_comparisons_of_spans_read_as_people_write_them() -> None:
    first = Period(date(2025, 1, 1), "month")
    last = Period(date(2025, 10, 1), "month")
    assert [Formats(each).span(first, last, "on") for each in LANGUAGES] == [
        "on January to October 2025",
        "gegenüber Januar bis Oktober 2025",
        "frente a enero-octubre de 2025",
        "par rapport à janvier-octobre 2025",
    ]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("How many customers?", "**The figures may be wrong:** A. **The statement was changed:** B\n\n"),
        ("Wie viele Kunden?", "**Die Zahlen können falsch sein:** A. **Die Abfrage wurde geändert:** B\n\n"),
        ("¿Cuántos clientes?", "**Las cifras pueden ser erróneas:** A. **La consulta se modificó:** B\n\n"),
        (
            "Combien de clients ?",
            "**Les chiffres peuvent être faux\xa0:** A. **La requête a été modifiée\xa0:** B\n\n",
        ),
    ],
)
def test_notices_around_an_analysis_are_in_the_language_of_the_question(question: str, line: str) -> None:
    assert first_line(["A."], ["B"], question) == line


def test_changes_beyond_the_third_are_counted() -> None:
    said = first_line([], ["A.", "B.", "C.", "D."], "How many customers?")
    assert said.endswith("C. 1 more change is listed with the SQL.\n\n")
