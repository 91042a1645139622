import type { ComponentChildren } from "preact";

/** A skeleton of the headline: two lines, as high as its own. */
export function HeadlineBones() {
  return (
    <div class="headline-bones" aria-hidden="true">
      <span class="bone" />
      <span class="bone short" />
    </div>
  );
}

/** A skeleton of picture, text and folds, with their measures, so that nothing moves when they come. `sql`: what is
 * written of the statement. */
export function Waiting({ sql }: { sql: ComponentChildren }) {
  return (
    <div class="waiting">
      <div class="plate">
        <i />
        <i />
        <i />
        <i />
      </div>
      <div class="plate-foot" />
      <div class="text-bones">
        <span class="bone" />
        <span class="bone" />
        <span class="bone short" />
      </div>
      <div class="folds">
        {sql || <span class="bone" />}
        <span class="bone" />
        <span class="bone" />
      </div>
    </div>
  );
}
