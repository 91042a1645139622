import { readCapabilities } from "../api/client";
import { ProblemBox } from "../shared/problem_box";
import { texts } from "../shared/texts";
import { count } from "../shared/time";
import { useRead } from "./read";
import { listModels } from "./settings_api";
import { settings } from "./texts";

/** Which language models answer, and whether their service does; without one, how to connect one. */
export function ModelState() {
  const { answer, problem, again } = useRead(readCapabilities);
  if (problem) return <ProblemBox problem={problem} onRetry={again} />;
  if (answer === null) return <p class="quiet">{texts.loading} …</p>;
  const { model, investigations, analysis } = answer;
  if (!model.on) {
    return (
      <>
        <p>{settings.builtIn}</p>
        <p class="quiet">{settings.noModel}</p>
      </>
    );
  }
  return (
    <>
      <Models />
      <p class="setting">
        {settings.investigations}
        <span class={investigations.on ? undefined : "quiet"}>
          {investigations.on ? settings.on : investigations.reason}
        </span>
      </p>
      <p class="setting" title={analysis.reason}>
        {settings.statements}
        <span>{settings.chosenBy[analysis.form]}</span>
      </p>
    </>
  );
}

function Models() {
  const { answer: found, problem, again } = useRead(listModels);
  if (problem) return <ProblemBox problem={problem} onRetry={again} />;
  if (found === null) return <p class="quiet">{texts.loading} …</p>;
  const used = found.items.filter((each) => each.tasks.length > 0);
  return (
    <>
      {found.problem === null ? <p>{settings.answers}</p> : <p class="warning">{found.problem}</p>}
      <table class="setting-table">
        <thead>
          <tr>
            <th scope="col">{settings.name}</th>
            <th scope="col">{settings.usedFor}</th>
            <th scope="col">{settings.window}</th>
          </tr>
        </thead>
        <tbody>
          {used.map((each) => (
            <tr key={each.name}>
              <th scope="row">{each.name}</th>
              <td>{each.tasks.map((task) => settings.tasks[task]).join(", ")}</td>
              <td>
                {each.context_window === null
                  ? settings.unknown
                  : settings.tokens(count(each.context_window))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
