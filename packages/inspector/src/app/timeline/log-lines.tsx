import type { LogLine } from '@batonjs/lifecycle';
import { Section } from '../parts/bits.tsx';
import { VirtualFlow } from '../parts/virtual-flow.tsx';
import { clockTime, plural } from '../parts/words.ts';
import type { Logged } from './entry-details.ts';

interface LogLinesProps {
  readonly logged: readonly Logged[];
  /** Goes to the entry that has a line. */
  readonly onSeq: (seq: number) => void;
}

/** What the agent logged, under the attempt in which it did: for those who run it, as no client sees it. */
export function LogLines({ logged, onSeq }: LogLinesProps) {
  if (logged.length === 0) return null;
  const rows = rowsOf(logged);
  return (
    <Section title={`Log, ${plural(rows.length, 'line')}`}>
      <VirtualFlow
        items={rows}
        keyOf={({ key }) => key}
        label="Log lines"
        row={({ seq, where, line }) => (
          <>
            {where && (
              <button type="button" class="link-button log-where" onClick={() => onSeq(seq)}>
                {where}
              </button>
            )}
            <LineView line={line} />
          </>
        )}
      />
      {logged.at(-1)?.isFull && (
        <p class="muted">No more lines of this task are kept. The log of the server has all.</p>
      )}
    </Section>
  );
}

interface LineRow {
  readonly key: string;
  readonly seq: number;
  /** The turn and the attempt, at the first of its lines. */
  readonly where: string | undefined;
  readonly line: LogLine;
}

function rowsOf(logged: readonly Logged[]): readonly LineRow[] {
  let latest: string | undefined;
  return logged.flatMap(({ seq, where, lines }) =>
    lines.map((line, index) => {
      const isFirst = where !== latest;
      latest = where;
      return { key: `${seq}-${index}`, seq, where: isFirst ? where : undefined, line };
    }),
  );
}

function LineView({ line: { at, level, text, fields, isCut } }: { readonly line: LogLine }) {
  const { stacks, shown } = fieldsOf(fields);
  return (
    <div class={`log-line log-${level}`}>
      <span class="muted mono">{clockTime(at)}</span>
      <span class="log-level">{level}</span>
      <span class="log-text">
        {text} {shown && <code>{shown}</code>}
        {isCut && <span class="muted"> (cut)</span>}
        {stacks.map((stack) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard.
          <pre key={stack} class="code" tabIndex={0}>
            {stack}
          </pre>
        ))}
      </span>
    </div>
  );
}

/** The stacks of errors, and the other fields in one line. */
function fieldsOf(fields: LogLine['fields'] = {}): {
  readonly stacks: readonly string[];
  readonly shown: string;
} {
  const stacks: string[] = [];
  const shown: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const { stack } = Object(value) as { readonly stack?: unknown };
    if (typeof stack === 'string') stacks.push(stack);
    else shown.push(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  return { stacks, shown: shown.join(' ') };
}
