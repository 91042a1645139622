import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Claim } from "../../api/types";
import { texts } from "../../shared/texts";
import "./claim_tips.css";

interface Shown {
  claims: readonly Claim[];
  children: ComponentChildren;
}

/** Shows the source of a claim while it is pointed at, focused or tapped; Escape closes the tip. */
export function ClaimTips({ claims, children }: Shown) {
  const root = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const id = useId();
  const claim = place ? claims[Number(place.dataset.claim)] : undefined;
  // All of it before the next key or movement, which may come as soon as claims are drawn.
  useLayoutEffect(() => setPlace(null), [claims]);
  useLayoutEffect(() => {
    if (!place || !tip.current || !root.current) return;
    putBeside(place, tip.current, root.current);
    place.setAttribute("aria-describedby", id);
    return () => place.removeAttribute("aria-describedby");
  }, [place]);
  useLayoutEffect(() => {
    if (!place) return;
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && setPlace(null);
    const onPointer = (event: PointerEvent) => !isPartOf(event.target, root.current) && setPlace(null);
    document.addEventListener("keydown", onKey);
    document.addEventListener("pointerdown", onPointer);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("pointerdown", onPointer);
    };
  }, [place]);
  const onMouseOut = ({ relatedTarget }: MouseEvent) => {
    if (!isPartOf(relatedTarget, root.current)) setPlace(placeOf(document.activeElement));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const pressed = placeOf(event.target);
    if (!pressed || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    setPlace(place === pressed ? null : pressed);
  };
  const show = ({ target }: Event) => setPlace(placeOf(target) ?? place);
  return (
    <div
      class="claim-tips"
      ref={root}
      onMouseOver={show}
      onMouseOut={onMouseOut}
      onFocusIn={show}
      onFocusOut={() => setPlace(null)}
      onClick={show}
      onKeyDown={onKeyDown}
    >
      {children}
      <div class="claim-tip" role="tooltip" id={id} ref={tip} hidden={!claim}>
        {claim && <Source claim={claim} />}
      </div>
    </div>
  );
}

function Source({ claim }: { claim: Claim }) {
  const { from, status } = claim;
  return (
    <>
      <strong>{texts.claims.status[status]}</strong>
      {from && <span>{from.how}</span>}
      {from && <span class="claim-place">{texts.claims.place(from.column, from.row)}</span>}
    </>
  );
}

/** The element of the claim that an event belongs to. */
function placeOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-claim]") : null;
}

/** Whether it is a claim of this analysis, or the tip: a pointer may move from one to the other. */
function isPartOf(target: EventTarget | null, root: HTMLElement | null): boolean {
  if (!(target instanceof Element) || !root?.contains(target)) return false;
  return target.closest("[data-claim], [role=tooltip]") !== null;
}

/** Below the claim's first line, or above it at the window's end, and never beyond the text's sides. */
function putBeside(place: HTMLElement, tip: HTMLElement, root: HTMLElement): void {
  const [line] = place.getClientRects();
  if (!line) return;
  const base = root.getBoundingClientRect();
  const fits = line.bottom + tip.offsetHeight <= window.innerHeight;
  const top = fits ? line.bottom : line.top - tip.offsetHeight;
  const left = Math.min(line.left - base.left, base.width - tip.offsetWidth);
  tip.style.top = `${top - base.top}px`;
  tip.style.left = `${Math.max(0, left)}px`;
}
