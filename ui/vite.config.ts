import { defineConfig, type Plugin } from "vite";

/** The words of index.html and their German. */
const GERMAN = new Map([
  ['lang="en"', 'lang="de"'],
  [
    "Ask your databases in plain language and see the SQL, the rows and the chart.",
    "Stellen Sie Ihren Datenbanken Fragen in eigenen Worten und sehen Sie das SQL, die Zeilen und das Diagramm.",
  ],
  [
    "KAI needs JavaScript to show this page; its API does not.",
    "KAI braucht JavaScript, um diese Seite zu zeigen; die API braucht keines.",
  ],
]);

/** Builds the page in German: in place of each module of texts, the one in German beside it. */
const germanTexts: Plugin = {
  name: "german-texts",
  enforce: "pre",
  async resolveId(source, importer) {
    if (!source.endsWith("texts")) return null;
    const german = await this.resolve(`${source}.de`, importer);
    return german ?? this.error(`${source} has no German beside it`);
  },
};

/** Writes index.html in German, beside the one in English. */
const germanIndex: Plugin = {
  name: "german-index",
  enforce: "post",
  generateBundle(_, bundle) {
    const index = bundle["index.html"];
    if (index?.type !== "asset") return this.error("index.html is not there");
    let source = String(index.source);
    for (const [english, german] of GERMAN) {
      if (!source.includes(english)) this.error(`index.html does not say ${english}`);
      source = source.replace(english, german);
    }
    delete bundle["index.html"];
    this.emitFile({ type: "asset", fileName: "index.de.html", source });
  },
};

/** Parts of Vega that no Vega-Lite specification uses: a tenth of its code. */
const UNUSED = /^vega-(crossfilter|force|hierarchy|voronoi|wordcloud)$/;

/** Leaves the parts of Vega out that no chart uses. */
const lighterVega: Plugin = {
  name: "lighter-vega",
  enforce: "pre",
  resolveId: (source) => (UNUSED.test(source) ? "\0unused-vega" : null),
  load: (id) => (id === "\0unused-vega" ? "export {};" : null),
};

/** `--mode de` adds the German page to a folder that has the English one, which is built first. */
export default defineConfig(({ mode }) => {
  const isGerman = mode === "de";
  return {
    build: {
      outDir: "../app/web/static",
      emptyOutDir: !isGerman,
      manifest: isGerman ? ".vite/manifest.de.json" : true,
      target: "es2022",
      chunkSizeWarningLimit: 1200,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
    },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: isGerman ? [lighterVega, germanTexts, germanIndex] : [lighterVega],
    // The theme of charts is read by the server, too, and stands with its code.
    server: { proxy: { "/api": "http://127.0.0.1:8000" }, fs: { allow: [".."] } },
  };
});
