/** Without a known fraction the bar only shows that the work goes on. */
export function ProgressBar({ message, fraction }: { message: string; fraction: number }) {
  return (
    <label class="call-progress">
      <span>{message}</span>
      <progress max={1} {...(fraction >= 0 && { value: fraction })} />
    </label>
  );
}
