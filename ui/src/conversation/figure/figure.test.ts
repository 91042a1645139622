import { expect, test } from "vitest";
import type { Column, Row } from "../../api/types";
import { figureOf, isFigure } from "./figure";

const number = (name: string): Column => ({ name, type: "number" });
const head = (columns: Column[], rowCount = 1) => ({ columns, rows: [], rowCount, cutBy: null });
const made = (columns: Column[], row: Row) => figureOf(columns, row);

test("one row with one number or two is a figure", () => {
  expect(isFigure(head([number("orders")]))).toBe(true);
  expect(isFigure(head([{ name: "month", type: "text" }, number("a"), number("b")]))).toBe(true);
  expect(isFigure(head([number("orders")], 2))).toBe(false);
  expect(isFigure(head([{ name: "month", type: "text" }]))).toBe(false);
  expect(isFigure(head([number("a"), number("b"), number("c")]))).toBe(false);
});

test("a figure has its number in full and its name in words", () => {
  expect(made([number("number_of_orders")], [20204])).toEqual({
    value: "20,204",
    name: "number of orders",
    column: "number_of_orders",
    of: "",
    beside: "",
  });
  expect(made([number("orders")], [null]).value).toBe("null");
});

test("two values of one measure are compared, the earlier one second", () => {
  const columns = [number("previous_revenue"), number("revenue"), { name: "month", type: "text" }];
  expect(made(columns, [200, 250, "May"])).toEqual({
    value: "250",
    name: "revenue",
    column: "revenue",
    of: "May",
    beside: "+25% against 200 previous revenue",
  });
});

test("values of different measures stand beside each other without a change", () => {
  expect(made([number("orders"), number("average_price")], [4, 2]).beside).toBe("2 average price");
  expect(made([number("revenue"), number("last_revenue")], [4, 0]).beside).toBe("0 last revenue");
});
