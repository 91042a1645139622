import { defineConfig, type Plugin } from "vite";

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
      rolldownOptions: { input: isGerman ? "index.de.html" : "index.html" },
    },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: isGerman ? [germanTexts] : [],
    server: { proxy: { "/api": "http://127.0.0.1:8000" } },
  };
});
