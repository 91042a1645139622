import { useEffect, useState } from "preact/hooks";
import { readTools } from "../api/client";
import { asProblem } from "../api/problem";
import type { Problem, Tool, ToolList } from "../api/types";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { McpServers } from "./mcp_servers";
import "../knowledge/knowledge.css";
import { SwitchedOff } from "./switched_off";
import { toolTexts } from "./texts";
import "./tools.css";

/** What investigations may call, what asks first, and where the tools come from. */
export default function ToolsPage() {
  const [list, setList] = useState<ToolList | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = () => {
    setProblem(null);
    readTools().then(setList, (error: unknown) => setProblem(asProblem(error)));
  };
  useEffect(() => {
    document.title = `${texts.tools.title} · ${texts.product}`;
    load();
  }, []);
  const isOff = problem?.status === 404;
  const toolsets = Map.groupBy(list?.items ?? [], (each) => each.toolset);
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{texts.tools.title}</h1>
          <p class="quiet">{toolTexts.lead}</p>
        </div>
      </header>
      {isOff && <SwitchedOff what="investigations" />}
      {problem && !isOff && <ProblemBox problem={problem} onRetry={load} />}
      {list === null && !problem && <p class="quiet">{texts.loading} …</p>}
      {[...toolsets].map(([toolset, tools]) => (
        <section class="toolset" key={toolset}>
          <h2>{toolset}</h2>
          <ul>
            {tools.map((each) => (
              <ToolView key={each.name} tool={each} />
            ))}
          </ul>
        </section>
      ))}
      {list !== null && list.extensions.length > 0 && <Extensions list={list} />}
      {list !== null && <McpServers onChange={load} />}
    </div>
  );
}

function ToolView({ tool }: { tool: Tool }) {
  const { gates, categories, agentOnly, nowhere } = toolTexts;
  return (
    <li class="tool">
      <details>
        <summary>
          <code>{tool.name}</code>
          <span class="entry-status">{categories[tool.category]}</span>
          <span class={`tool-gate ${tool.gate}`}>{gates[tool.gate]}</span>
          {tool.modes.length === 0 && <span class="quiet">{nowhere}</span>}
          {tool.modes.length === 1 && tool.modes[0] === "agent" && <span class="quiet">{agentOnly}</span>}
        </summary>
        <p lang="en">{tool.description}</p>
        <pre tabIndex={0} aria-label={toolTexts.schema}>
          {JSON.stringify(tool.arguments, null, 2)}
        </pre>
      </details>
    </li>
  );
}

function Extensions({ list }: { list: ToolList }) {
  const { extensions, failed } = toolTexts;
  return (
    <section class="toolset">
      <h2>{extensions}</h2>
      <ul>
        {list.extensions.map((each) => (
          <li class="tool" key={each.name}>
            <p>
              <code>{each.name}</code> <span class="quiet">{each.package}</span>
            </p>
            {each.status === "failed" && (
              <p class="warning">
                {failed} {each.error}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
