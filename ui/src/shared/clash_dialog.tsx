import { render } from "preact";
import { clashTexts } from "./clash_texts";
import { Dialog } from "./dialog";
import type { Difference } from "./edits";
import "./clash.css";

/** Shows two edits of one record beside each other. Null if the dialog is closed without a choice. */
export function chooseEdit(differences: readonly Difference[]): Promise<"mine" | "theirs" | null> {
  const host = document.body.appendChild(document.createElement("div"));
  return new Promise((resolve) => {
    const choose = (which: "mine" | "theirs" | null) => {
      render(null, host);
      host.remove();
      resolve(which);
    };
    render(<ClashDialog differences={differences} onChosen={choose} />, host);
  });
}

interface Shown {
  differences: readonly Difference[];
  onChosen: (which: "mine" | "theirs" | null) => void;
}

function ClashDialog({ differences, onChosen }: Shown) {
  return (
    <Dialog title={clashTexts.title} onClose={() => onChosen(null)}>
      <p>{clashTexts.lead}</p>
      <table class="clash">
        <thead>
          <tr>
            <td />
            <th scope="col">{clashTexts.theirs}</th>
            <th scope="col">{clashTexts.mine}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ name, mine, theirs }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{theirs}</td>
              <td>{mine}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="problem-actions">
        <button type="button" class="button" onClick={() => onChosen("theirs")}>
          {clashTexts.keepTheirs}
        </button>
        <button type="button" class="button primary" onClick={() => onChosen("mine")}>
          {clashTexts.keepMine}
        </button>
      </div>
    </Dialog>
  );
}
