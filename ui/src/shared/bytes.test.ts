import { expect, test } from "vitest";
import { bytes } from "./bytes";

test.each([
  [0, "0 B"],
  [950, "950 B"],
  [999_400, "999 kB"],
  [999_999, "1.0 MB"],
  [1_600_000, "1.6 MB"],
  [9_960_000, "10 MB"],
  [12_400_000_000, "12 GB"],
  [1_200_000_000_000_000_000, "1,200 PB"],
])("%d bytes are %s", (size, words) => {
  expect(bytes(size)).toBe(words);
});
