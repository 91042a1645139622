import { Check, X } from "lucide";
import { useState } from "preact/hooks";
import { testGraphMemory } from "../api/client";
import { asProblem } from "../api/problem";
import type { GraphMemory, GraphTest, Problem } from "../api/types";
import { mayManage } from "../identity/me";
import { busy } from "../shared/busy";
import { Icon } from "../shared/icon";
import { ProblemBox } from "../shared/problem_box";
import { count, duration } from "../shared/time";
import { memoryTexts } from "./texts";

/** The state of the graph memory service, and tests of its connection. */
export function GraphService({ graph, onChange }: { graph: GraphMemory; onChange: () => Promise<void> }) {
  const { service, states, off, recall, ingest, promoted, waiting, notErased } = memoryTexts.outside;
  const does = [graph.recall && recall, graph.ingest ? ingest : promoted].filter(Boolean).join(" · ");
  return (
    <article class="entry">
      <header>
        <h2>{service}</h2>
      </header>
      {graph.enabled ? (
        <>
          <p class="quiet">
            <code>{graph.endpoint}</code> · {does}
          </p>
          {graph.state && (
            <p class={graph.state === "working" ? "quiet" : "warning"}>{states[graph.state]}</p>
          )}
          {graph.waiting > 0 && <p class="quiet">{waiting(count(graph.waiting))}</p>}
        </>
      ) : (
        <p class="quiet">{off}</p>
      )}
      {graph.not_erased > 0 && <p class="warning">{notErased(count(graph.not_erased))}</p>}
      {graph.enabled && mayManage.value && <ConnectionTest onTested={onChange} />}
    </article>
  );
}

function ConnectionTest({ onTested }: { onTested: () => Promise<void> }) {
  const [result, setResult] = useState<GraphTest | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [running, setRunning] = useState(false);
  const { test, smoke, testing, passed, failed } = memoryTexts.outside;
  const run = async (mode: GraphTest["mode"]) => {
    setRunning(true);
    setResult(null);
    setProblem(null);
    await testGraphMemory(mode).then(setResult, (error: unknown) => setProblem(asProblem(error)));
    setRunning(false);
    void onTested();
  };
  return (
    <>
      <div class="problem-actions">
        <button type="button" class="button small" {...busy(running, () => void run("basic"))}>
          {test}
        </button>
        <button type="button" class="button small" {...busy(running, () => void run("smoke"))}>
          {smoke}
        </button>
      </div>
      <div role="status">
        {running && <p class="quiet">{testing}</p>}
        {result && (
          <>
            <p>{result.passed ? passed : failed}</p>
            <ul class="test-steps">
              {result.steps.map((each) => (
                <li key={each.name} class={each.passed ? "passed" : "failed"}>
                  <Icon of={each.passed ? Check : X} size={15} />
                  <span>
                    <strong>{each.name}</strong> {each.detail}{" "}
                    <span class="quiet">{duration(each.milliseconds)}</span>
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      {problem && <ProblemBox problem={problem} />}
    </>
  );
}
