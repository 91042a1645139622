import { expect, test } from "vitest";
import type { Table, TableColumn } from "../api/types";
import { starterTexts as inGerman } from "./starter_texts.de";
import { inEnglish } from "./starter_words";
import { starters, withOwn } from "./starters";

const column = (name: string, type: TableColumn["type"], values: string[] = []): TableColumn => ({
  name,
  type,
  database_type: type,
  nullable: true,
  primary_key: false,
  description: "",
  unit: "",
  hidden: false,
  format: "",
  values,
});
const table = (name: string, row_count: number, ...columns: TableColumn[]): Table => ({
  name,
  version: 0,
  kind: "table",
  description: "",
  row_count,
  columns,
  foreign_keys: [],
});

test("questions come from what the columns hold", () => {
  const customers = table("customers", 90, column("country", "text", ["Brazil", "Norway", "Peru"]));
  const orders = table("order_lines", 900, column("sold", "date"), column("unitPrice", "number"));
  expect(starters([customers, orders], inEnglish)).toEqual([
    "How many customers per country?",
    "What is the total unit price of order lines?",
    "Number of order lines per month",
    "How many customers are there?",
  ]);
});

test("questions in German name tables and columns as they are", () => {
  const company = table("Company", 90, column("homeCountry", "text", ["Brazil", "Norway", "Peru"]));
  const invoice = table("Invoice", 900, column("InvoiceDate", "datetime"), column("Total", "number"));
  expect(starters([company, invoice], inGerman)).toEqual([
    "Anzahl der Zeilen von „company“ je „home country“",
    "Wie hoch ist der Durchschnitt von „total“ in „invoice“?",
    "Anzahl der Zeilen von „invoice“ pro Monat",
    "Wie viele Zeilen hat „company“?",
  ]);
});

test("tables that are named after one row are asked for as many", () => {
  const company = table("Company", 90, column("Country", "text", ["Brazil", "Norway", "Peru"]));
  const invoice = table("Invoice", 900, column("InvoiceDate", "datetime"), column("Total", "number"));
  expect(starters([company, invoice], inEnglish)).toEqual([
    "How many companies per country?",
    "What is the average total of invoices?",
    "Number of invoices per month",
    "How many companies are there?",
  ]);
});

test("values that are nearly as many as the rows group nothing", () => {
  const people = table("people", 4, column("name", "text", ["A", "B", "C"]));
  expect(starters([people], inEnglish)).toEqual(["How many people are there?"]);
});

test("an empty schema suggests nothing", () => {
  expect(starters([], inEnglish)).toEqual([]);
});

test("questions of a person come before generated ones, which fill the places left", () => {
  expect(withOwn(["Mine?", "A?"], ["A?", "B?", "C?", "D?"])).toEqual(["Mine?", "A?", "B?", "C?"]);
  expect(withOwn(["1", "2", "3", "4", "5"], ["A?"])).toEqual(["1", "2", "3", "4", "5"]);
});
