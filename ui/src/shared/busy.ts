/** Of a button: it does nothing while its work is under way, and keeps the focus, which `disabled` would take. */
export function busy(working: boolean, act: () => void) {
  return { "aria-disabled": working, onClick: () => !working && act() };
}
