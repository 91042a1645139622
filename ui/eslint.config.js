import js from "@eslint/js";
import tseslint from "typescript-eslint";

const message = "Words of the page stand in texts.ts, and in German beside it.";
const SHOWN = "/^(aria-label|aria-description|title|placeholder|alt|label)$/";
/** Words that a component writes itself: between tags, in attributes that are read out, and as sentences. */
const OWN_WORDS = [
  "JSXText[value=/\\b[A-Za-z]{2,}\\b/]",
  "JSXElement > JSXExpressionContainer > TemplateLiteral > TemplateElement[value.raw=/\\b[a-z]{2,}\\b/]",
  `JSXAttribute[name.name=${SHOWN}] > Literal[value=/[a-z]{2}/]`,
  `JSXAttribute[name.name=${SHOWN}] > JSXExpressionContainer > TemplateLiteral > TemplateElement[value.raw=/[a-z]{2}/]`,
  "Literal[value=/^[A-Z][a-z]+ [a-z]/]",
].map((selector) => ({ selector, message }));

export default tseslint.config(
  { ignores: ["src/api/schema.ts"] },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "no-console": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unnecessary-condition": "off", // events of newer servers are expected
      "@typescript-eslint/unbound-method": "off",
    },
  },
  {
    files: ["**/*.tsx"],
    rules: {
      "no-restricted-syntax": ["error", ...OWN_WORDS],
    },
  },
);
