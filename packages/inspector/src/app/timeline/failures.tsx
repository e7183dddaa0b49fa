import { Section } from '../parts/bits.tsx';
import { clockTime, dateTime } from '../parts/words.ts';
import type { Failure } from './entry-details.ts';

interface FailuresProps {
  readonly failures: readonly Failure[];
  /** Goes to the entry of a failure. */
  readonly onSeq: (seq: number) => void;
}

/** What the agent threw, with its stack: for those who run it, as no client sees it. The last one first. */
export function Failures({ failures, onSeq }: FailuresProps) {
  if (failures.length === 0) return null;
  return (
    <Section title={failures.length === 1 ? 'What went wrong' : `What went wrong, ${failures.length} times`}>
      <ul class="failures">
        {failures.toReversed().map((failure, index) => (
          <li key={failure.seq} class="failure">
            <p class="failure-head">
              <button type="button" class="link-button" onClick={() => onSeq(failure.seq)}>
                {failure.where}
              </button>
              {failure.at && <span class="muted mono">{clockTime(failure.at)}</span>}
              {failure.code && <code>{failure.code}</code>}
              <span class="muted">
                {failure.retryAt ? `tried again at ${dateTime(failure.retryAt)}` : 'not tried again'}
              </span>
            </p>
            <p class="failure-message">{failure.message}</p>
            {failure.stack && (
              <details open={index === 0}>
                <summary>Stack</summary>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard. */}
                <pre class="code" tabIndex={0}>
                  {failure.stack}
                </pre>
              </details>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
