import { Share2 } from "lucide";
import { useState } from "preact/hooks";
import type { LinkKind } from "../api/types";
import { connectionOf } from "../connections/connections";
import { IconButton } from "../shared/icon_button";
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
  return (
    <>
      <IconButton icon={Share2} label={texts.share[kind]} popup="dialog" onClick={() => setOpen(true)} />
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
