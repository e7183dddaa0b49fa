import type { LogLine } from '@batonjs/lifecycle';
import { CopyButton, ScrolledCode, Section } from '../parts/bits.tsx';
import { Flow } from '../parts/flow.tsx';
import { clockTime, dateTime, plural } from '../parts/words.ts';
import type { Failure, Logged } from './entry-details.ts';

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
      <Flow
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
          <ScrolledCode key={stack} text={stack} />
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

interface FailuresProps {
  readonly failures: readonly Failure[];
  /** Goes to the entry of a failure. */
  readonly onSeq: (seq: number) => void;
}

/** What the agent threw, and why: for those who run it, as no client sees it. The last one first. */
export function Failures({ failures, onSeq }: FailuresProps) {
  if (failures.length === 0) return null;
  const [last] = failures.slice(-1);
  return (
    <Section
      title={failures.length === 1 ? 'What went wrong' : `What went wrong, ${failures.length} times`}
      aside={last && <CopyButton text={issueOf(last)} label="Copy for an issue" />}
    >
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
            {failure.stack && <Stack text={failure.stack} isOpen={index === 0} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The causes in a line each, the frames of the agent's own code, and the rest folded. */
function Stack({ text, isOpen }: { readonly text: string; readonly isOpen: boolean }) {
  const { causes, own, folded } = partsOfStack(text);
  return (
    <>
      {causes.map((cause, index) => (
        <p key={index} class="failure-message">
          Caused by: {cause}
        </p>
      ))}
      {isOpen && own.length > 0 && <pre class="code failure-own">{own.join('\n')}</pre>}
      <details>
        <summary>{folded > 0 ? `Whole stack, with ${folded} frames of libraries` : 'Whole stack'}</summary>
        <ScrolledCode text={text} />
      </details>
    </>
  );
}

/** Frames of Node.js, of installed packages, and of Baton where it runs from its sources. */
const ofLibrary = /<anonymous>|node_modules\/|\(?node:|\/packages\/[\w-]+\/(src|dist)\//;

/** The parts of a stack that say something; paths of own frames begin where they differ. */
export function partsOfStack(stack: string) {
  const [, ...causes] = stack.split('\nCaused by: ').map((part) => part.split('\n', 1)[0]!);
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const own = frames
    .filter((frame) => !ofLibrary.test(frame))
    .map((frame) => frame.trim().replace('file://', ''));
  const folders = own
    .map((frame) => frame.slice(frame.indexOf('/'), frame.lastIndexOf('/') + 1))
    .filter(Boolean);
  let shared = folders[0] ?? '';
  while (!folders.every((folder) => folder.startsWith(shared))) shared = shared.replace(/[^/]*\/$/, '');
  // The name of the innermost folder says where a file lies.
  const root = shared.replace(/[^/]*\/$/, '');
  return {
    causes,
    own: own.map((frame) => (root.length > 1 ? frame.replace(root, '') : frame)),
    folded: frames.length - own.length,
  };
}

/** A failure as Markdown. */
function issueOf({ message, where, code, stack = '', retryAt }: Failure): string {
  const { causes, own } = partsOfStack(stack);
  const again = retryAt ? `tried again at ${retryAt}` : 'not tried again';
  return [
    `**${message}**`,
    `${where}${code ? `, \`${code}\`` : ''}, ${again}`,
    ...causes.map((cause) => `- caused by: ${cause}`),
    ...(own.length > 0 ? [['```', ...own, '```'].join('\n')] : []),
  ].join('\n\n');
}
