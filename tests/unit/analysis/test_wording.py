"""Formats and sentences of the four languages."""

from datetime import date
from decimal import Decimal

import pytest

from app.core.language import LANGUAGES, Language
from app.modules.analysis.facts import languages
from app.modules.analysis.facts.wording import (
    Amount,
    Counted,
    Names,
    Percent,
    Points,
    Slot,
    Span,
    Wording,
)
from app.modules.analysis.figures.calendar import UNITS, Period, period_of
from app.modules.analysis.formats import Formats, unit_of

OCTOBER = Period(date(2026, 10, 1), "month")
DAY = Period(date(2026, 11, 23), "day")


def said(
    monkeypatch: pytest.MonkeyPatch, template: str, language: Language = "en", **slots: Slot
) -> str | None:
    """The sentence of a template that stands in the table of one language."""
    monkeypatch.setitem(languages.TABLES, language, {**languages.TABLES[language], "trial": template})
    return Wording(language).say_or_none("trial", **slots)


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
    ("language", "texts"),
    [
        ("en", ("23 November 2026", "week 48 of 2026", "November 2026", "Q4 2026", "2026")),
        (
            "de",
            ("23. November 2026", "Woche 48 des Jahres 2026", "November 2026", "4. Quartal 2026", "2026"),
        ),
        (
            "es",
            (
                *("23 de noviembre de 2026", "semana 48 de 2026", "noviembre de 2026"),
                *("4.º trimestre de 2026", "2026"),
            ),
        ),
        ("fr", ("23 novembre 2026", "semaine 48 de 2026", "novembre 2026", "4e trimestre 2026", "2026")),
    ],
)
def test_periods_are_named_as_people_say_them(language: Language, texts: tuple[str, ...]) -> None:
    assert tuple(Formats(language).period(period_of(DAY.start, unit)) for unit in UNITS) == texts


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
        ("order_count", "number of orders", "Anzahl orders"),
        ("num_categories", "number of categories", "Anzahl categories"),
        ("NumberOfOrders", "number of orders", "Anzahl orders"),
        ("avg(price)", "average price", "Durchschnitt von price"),
        ("sum(amount)", "total amount", "Summe von amount"),
        ("profit_minus_plan", "profit minus plan", "profit minus plan"),
        ("amount_eur", "amount EUR", "amount EUR"),
    ],
)
def test_columns_have_titles_in_words(name: str, en: str, de: str) -> None:
    assert Formats("en").title(name) == en
    assert Formats("de").title(name) == de


def test_a_count_of_rows_counts_what_the_rows_are() -> None:
    assert [Formats(each).title("count_star()", "orders") for each in LANGUAGES] == [
        *("number of orders", "Anzahl orders", "número de orders", "nombre d'orders")
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


def test_a_part_in_brackets_goes_where_its_slot_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{value}[, {share} of the total]."
    assert said(monkeypatch, template, value=5, share=Percent(Decimal("0.386"))) == "5, 38.6% of the total."
    assert said(monkeypatch, template, value=5, share=None) == "5."
    assert said(monkeypatch, template, value=None, share=None) is None
    assert Wording("en").say_or_none("no such template") is None


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
    assert said(monkeypatch, "{when:in}", when=Span(OCTOBER, OCTOBER)) == "in October 2026"
