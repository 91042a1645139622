import { Download, SlidersHorizontal } from "lucide";
import { useRef, useState } from "preact/hooks";
import type { ChartChoice, Column } from "../../api/types";
import { download, fileName } from "../../shared/files";
import { Icon } from "../../shared/icon";
import { lazy } from "../../shared/lazy";
import { Menu } from "../../shared/menu";
import { orSay } from "../../shared/or_say";
import { shownTheme } from "../../shared/theme";
import type { Head } from "../model";
import { notesOf } from "./notes";
import { type FileFormat, pictureFile } from "./picture";
import type { Spec } from "./spec";
import { chartTexts } from "./texts";
import "./chart.css";

const ChartForm = lazy(() => import("./chart_form"));

/** What the server made of a wish in words; nothing of it is stored. */
export interface Said {
  choice: ChartChoice | null;
  refusal: string | null;
  /** Parts of the words that were not understood. */
  not_understood: string[];
}

/** What a reader may change of a chart. Both raise why the rows do not allow it. */
export interface Changes {
  choose: (choice: ChartChoice | null) => Promise<void>;
  say: (words: string) => Promise<Said>;
  /** The database that a rule would be for. */
  connectionId: string | null | undefined;
}

interface Shown {
  /** The chart that is drawn; null if the server proposed none. */
  spec: Spec | null;
  /** What the chart was made of. Null for an answer about rows of an earlier answer. */
  head: Head | null;
  title: string;
  /** As the answer keeps it. */
  choice: ChartChoice | null;
  /** Null where the reader may change nothing. */
  changes: Changes | null;
  /** Whether the answer can keep a choice by now. */
  ready: boolean;
}

const FORMATS: FileFormat[] = ["png", "svg", "json"];
const NO_COLUMNS: Column[] = [];

/** Rows of a chart, ways to change it, and ways to take it along. Fetched while a question is answered. */
export default function ChartTools({ spec, head, title, choice, changes, ready }: Shown) {
  const line = useRef<HTMLParagraphElement>(null);
  const [open, show] = useState(spec === null);
  const take = async (format: FileFormat) => {
    if (!line.current || !spec) return;
    const background = groundOf(line.current);
    const file = await pictureFile(spec, { format, theme: shownTheme(), background, title });
    download(file, fileName(title, format === "json" ? "vl.json" : format));
  };
  const items = FORMATS.map((format) => ({
    label: chartTexts.saveAs[format],
    onSelect: () => orSay(take(format)),
  }));
  return (
    <>
      <p class="chart-rows quiet" ref={line}>
        {spec ? notesOf(spec) : chartTexts.none}
      </p>
      {changes && (
        <button
          type="button"
          class="button small"
          aria-label={chartTexts.change}
          aria-expanded={open}
          disabled={!ready}
          onClick={() => show(!open)}
        >
          <Icon of={SlidersHorizontal} size={15} /> {chartTexts.changeIt}
        </button>
      )}
      {spec && <Menu icon={Download} label={chartTexts.save} text={chartTexts.saveIt} items={items} />}
      {open && changes && ready && (
        <ChartForm spec={spec} columns={head?.columns ?? NO_COLUMNS} choice={choice} changes={changes} />
      )}
    </>
  );
}

/** The colour behind an element. */
function groundOf(element: Element): string {
  const { backgroundColor } = getComputedStyle(element);
  const isSeen = !/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor);
  return isSeen || !element.parentElement ? backgroundColor : groundOf(element.parentElement);
}
