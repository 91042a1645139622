import { expect, test } from "vitest";
import type { Connection } from "../api/types";
import { addressOf, EMPTY, partsOf, withoutSecrets } from "./address";

const SERVER = { ...EMPTY, host: "db.example.com", database: "shop", user: "ann" };

test("an address holds every field, with the signs that it reserves encoded", () => {
  const parts = { ...SERVER, port: "5433", user: "a@b", password: "p/w:@", database: "my db?" };
  expect(addressOf(parts)).toBe("postgresql://a%40b:p%2Fw%3A%40@db.example.com:5433/my%20db%3F");
  expect(addressOf({ ...SERVER, engine: "mysql", host: "::1" })).toBe("mysql://ann@[::1]/shop");
  expect(addressOf({ ...EMPTY, engine: "sqlite", path: "/data/a shop?.db" })).toBe(
    "sqlite:////data/a%20shop%3F.db",
  );
  expect(addressOf({ ...EMPTY, engine: "address", address: " duckdb:////d/x.duckdb " })).toBe(
    "duckdb:////d/x.duckdb",
  );
});

test("there is no address while a field that it needs is empty", () => {
  expect(addressOf({ ...SERVER, host: " " })).toBeNull();
  expect(addressOf({ ...SERVER, user: "" })).toBeNull();
  expect(addressOf({ ...EMPTY, engine: "duckdb" })).toBeNull();
  expect(addressOf({ ...EMPTY, engine: "address" })).toBeNull();
});

test("the fields of a connection make its address again", () => {
  for (const masked_url of [
    "postgresql://a%40b@db.example.com:5432/my%20db",
    "postgresql://ann@[::1]:5432/shop",
  ]) {
    const connection = { dialect: "postgres", masked_url } as Connection;
    expect(addressOf(partsOf(connection))).toBe(masked_url);
  }
  expect(partsOf({ dialect: "sqlite", masked_url: "shop.db" } as Connection)).toEqual({
    ...EMPTY,
    engine: "sqlite",
  });
  const other = { dialect: "clickhouse", masked_url: "clickhouse://ann@db:8443/shop" } as Connection;
  expect(partsOf(other)).toEqual({ ...EMPTY, engine: "address" });
});

test("what a tab stores of an address holds no password and no address in one line", () => {
  const url = "postgresql://ann:secret@db/shop";
  const typed = { ...SERVER, password: "secret", address: url, path: url };
  expect(withoutSecrets(typed)).toEqual(SERVER);
});
