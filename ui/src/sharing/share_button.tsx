import { Share2 } from "lucide";
import { useState } from "preact/hooks";
import type { LinkKind } from "../api/types";
import { connectionOf } from "../connections/connections";
import { Icon } from "../shared/icon";
import { lazy } from "../shared/lazy";
import { texts } from "../shared/texts";

const LinkDialog = lazy(() => import("./link_dialog"));

interface Shown {
  kind: Exclude<LinkKind, "board">;
  thingId: string;
  connectionId: string | null;
}

/** Asks for the terms of a read-only link to an answer or a session, and makes it. */
export function ShareButton({ kind, thingId, connectionId }: Shown) {
  const [open, setOpen] = useState(false);
  const label = texts.share[kind];
  return (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Icon of={Share2} />
      </button>
      {open && (
        <LinkDialog
          kind={kind}
          thingId={thingId}
          database={connectionOf(connectionId)?.name}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
