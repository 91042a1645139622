import "@fontsource-variable/inter";
import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/print.css";
import { render } from "preact";
import { App } from "./app";

const root = document.getElementById("app");
if (root) render(<App />, root);
