import { useEffect, useState } from "preact/hooks";
import { approveMcpTool, readMcpServers } from "../api/client";
import { asProblem } from "../api/problem";
import type { McpServer, McpTool, Problem } from "../api/types";
import { isAdmin } from "../identity/me";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { moment } from "../shared/time";
import { toolTexts } from "./texts";

/** While a server is not connected; it may be soon. */
const POLL_MS = 3_000;

/** The MCP servers with their states; an administrator approves their tools. */
export function McpServers({ onChange }: { onChange: () => void }) {
  const [servers, setServers] = useState<McpServer[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = () => readMcpServers().then(setServers, (error: unknown) => setProblem(asProblem(error)));
  useEffect(() => void load(), []);
  const settled = servers.every((each) => each.status === "Connected");
  useEffect(() => {
    if (settled) return;
    const timer = setInterval(() => void load(), POLL_MS);
    return () => clearInterval(timer);
  }, [settled]);
  const approve = async (server: McpServer, tool: McpTool) => {
    await approveMcpTool(server.name, tool.name, tool.fingerprint);
    await load();
    onChange();
  };
  if (problem) return <ProblemBox problem={problem} onRetry={() => void load()} />;
  if (servers.length === 0) return null;
  return (
    <section class="toolset">
      <h2>{toolTexts.servers}</h2>
      {servers.map((each) => (
        <ServerView key={each.name} server={each} approve={(tool) => orSay(approve(each, tool))} />
      ))}
    </section>
  );
}

function ServerView({ server, approve }: { server: McpServer; approve: (tool: McpTool) => void }) {
  const { statuses, leftOut } = toolTexts;
  return (
    <article class="entry">
      <header>
        <h3>{server.name}</h3>
        <span class={`entry-status ${server.status}`}>{statuses[server.status]}</span>
      </header>
      {server.description && <p>{server.description}</p>}
      <p class="quiet">
        <code>{server.address}</code>
        {server.connected_at && ` · ${moment(server.connected_at)}`}
      </p>
      {server.error && <p class="warning">{server.error}</p>}
      <ul>
        {server.tools.map((each) => (
          <McpToolView key={each.name} tool={each} approve={() => approve(each)} />
        ))}
      </ul>
      {server.tools_left_out > 0 && <p class="warning">{leftOut(server.tools_left_out)}</p>}
    </article>
  );
}

/** A tool as it is now; of a changed one beside what was approved. */
function McpToolView({ tool, approve }: { tool: McpTool; approve: () => void }) {
  const { states, approve: label, was, now, schema } = toolTexts;
  const changed = tool.state === "changed" ? tool.approved : null;
  const canApprove = isAdmin.value && (tool.state === "new" || tool.state === "changed");
  return (
    <li class="tool">
      <details open={canApprove}>
        <summary>
          <code>{tool.name}</code>
          <span class={`tool-gate ${tool.state}`}>{states[tool.state]}</span>
        </summary>
        {tool.fault && <p class="warning">{tool.fault}</p>}
        {changed && (
          <>
            <h4>{was}</h4>
            <p>{changed.description}</p>
            <pre tabIndex={0} aria-label={`${schema}, ${was}`}>
              {JSON.stringify(changed.input_schema, null, 2)}
            </pre>
            <h4>{now}</h4>
          </>
        )}
        <p>{tool.description}</p>
        <pre tabIndex={0} aria-label={schema}>
          {JSON.stringify(tool.input_schema, null, 2)}
        </pre>
        {canApprove && (
          <button type="button" class="button small primary" onClick={approve}>
            {label(tool.name)}
          </button>
        )}
      </details>
    </li>
  );
}
