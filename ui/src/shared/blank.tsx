import type { ComponentChildren } from "preact";

interface Shown {
  title: string;
  lead?: string;
  /** How something gets here, one step after the other. */
  steps?: readonly string[];
  /** Whether it is the whole page, under no heading of its own. */
  isPage?: boolean;
  /** The way on. */
  children?: ComponentChildren;
}

/** What is said where nothing is shown: what belongs here, how it gets here, and the way on. */
export function Blank({ title, lead, steps = [], isPage = false, children }: Shown) {
  const Heading = isPage ? "h1" : "h2";
  return (
    <section class="blank">
      <Heading>{title}</Heading>
      {lead && <p>{lead}</p>}
      {steps.length > 0 && (
        <ol>
          {steps.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ol>
      )}
      {children && <div class="blank-actions">{children}</div>}
    </section>
  );
}
