/** Edits of records that others may change meanwhile. */
import { ApiError } from "../api/problem";

const CLASH = "urn:kai:changed-meanwhile";

/** A field in which two edits differ. */
export interface Difference {
  name: string;
  mine: string;
  theirs: string;
}

interface Edit<Edited extends { version: number }> {
  /** The version that was read for the edit. */
  version: number;
  send: (version: number) => Promise<unknown>;
  /** Reads the record again; undefined if it is gone. */
  read: () => Promise<Edited | undefined>;
  /** The fields of this edit beside those of the record as it is now. */
  beside: (theirs: Edited) => Difference[];
}

/** Sends an edit of the version that was read. If another edit came first, the reader sees both and chooses;
 * without a choice the edit is neither sent nor dropped, and the refusal is raised for its form to show.
 * Returns whether this edit is the one that stays. Raises what `send` and `read` raise. */
export async function saveEdit<Edited extends { version: number }>(edit: Edit<Edited>): Promise<boolean> {
  let { version } = edit;
  for (;;) {
    try {
      await edit.send(version);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.type !== CLASH) throw error;
      const theirs = await edit.read();
      if (theirs === undefined) throw error;
      const differences = edit.beside(theirs).filter(({ mine, theirs }) => mine !== theirs);
      const { chooseEdit } = await import("./clash_dialog");
      const chosen = differences.length > 0 ? await chooseEdit(differences) : "mine";
      if (chosen === null) throw error;
      if (chosen === "theirs") return false;
      version = theirs.version;
    }
  }
}
