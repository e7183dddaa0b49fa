import { useMemo, useRef } from 'preact/hooks';
import type { Call } from '../../api/model-calls.ts';
import { useNow, useSession } from '../data/session.ts';
import { callName, money, tokenWords } from '../models/totals.ts';
import { duration, isTerminalState } from '../parts/words.ts';
import { placeOfName, type Span, spansOf } from './spans.ts';
import type { Timeline } from './timeline.ts';

interface WaterfallProps {
  readonly timeline: Timeline;
  readonly version: number;
  /** How a screen reader calls it: a page may have two. */
  readonly label?: string;
  /** Goes to the row where a bar begins. */
  readonly onRow: (row: number) => void;
}

/** About how many marks of time there are. */
const marks = 4;

/** Where the marks of time stand, in milliseconds: at 1, 2 or 5 of a power of ten. */
function marksOf(whole: number, count: number): readonly number[] {
  const least = whole / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
  return Array.from({ length: Math.ceil(whole / step) }, (_, mark) => mark * step);
}

/** What lasted how long: attempts of turns, steps, waits and children as bars over time. */
export function Waterfall({ timeline, version, onRow, label = 'Waterfall' }: WaterfallProps) {
  const now = useNow(1_000);
  const spans = useMemo(() => spansOf(timeline.rows), [timeline, version]);
  const isOver = isTerminalState(timeline.live.task?.status.state ?? '');
  const started = Date.parse(timeline.rows.find(({ entry }) => entry.at)?.entry.at ?? '');
  const from = Math.min(spans[0]?.from ?? 0, started || Number.POSITIVE_INFINITY);
  const ends = spans.map(({ until }) => until ?? 0);
  const last = spans.some(({ until }) => until === undefined) && !isOver ? now : 0;
  const whole = Math.max(1, Math.max(last, ...ends) - from);
  const ended = isOver ? Date.parse(timeline.live.task?.status.timestamp ?? '') : Number.NaN;
  const go = useRef(onRow);
  go.current = onRow;
  // The same bars stay as they are: a step back in the task does not draw them again.
  const bars = useMemo(
    () => <Bars spans={spans} from={from} whole={whole} onRow={(row) => go.current(row)} />,
    [spans, from, whole],
  );
  if (spans.length === 0) return null;
  return (
    <section class="waterfall" aria-label={label}>
      <header class="waterfall-tools">
        <h2>{duration(ended - from || whole)} in all</h2>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups the fields of a form. */}
      <div class="waterfall-frame" role="group" tabIndex={0} aria-label="Bars over time">
        {bars}
      </div>
    </section>
  );
}

interface BarsProps extends Omit<BarProps, 'span'> {
  readonly spans: readonly Span[];
}

const Bars = ({ spans, from, whole, onRow }: BarsProps) => (
  <>
    <div class="waterfall-scale" aria-hidden="true">
      {marksOf(whole, marks).map((ms) => (
        <span key={ms} style={{ left: `${(100 * ms) / whole}%` }}>
          {ms / whole < 1 - 0.12 && duration(ms)}
        </span>
      ))}
    </div>
    <ul class="waterfall-bars">
      {spans.map((span, index) => (
        <Bar key={index} span={span} from={from} whole={whole} onRow={onRow} />
      ))}
    </ul>
  </>
);

interface BarProps {
  readonly span: Span;
  readonly from: number;
  readonly whole: number;
  readonly onRow: (row: number) => void;
}

function Bar({ span, from, whole, onRow }: BarProps) {
  const { kind, name, isFailed, row, call } = span;
  const { currency } = useSession();
  const paid = call && costWords(call, currency);
  const end = span.until ?? from + whole;
  const took = duration(Math.max(0, end - span.from));
  const left = (100 * (span.from - from)) / whole;
  const width = (100 * (end - span.from)) / whole;
  const { side, room } = placeOfName(left, width);
  const place =
    side === 'before' ? { right: `${100 - left}%` } : { left: `${side === 'inside' ? left : left + width}%` };
  const title = call ? `${call.kind === 'model' ? 'Model' : 'Tool'} ${callName(call)}` : name;
  const words = `${title}, ${took}${paid ? `, ${paid}` : ''}${isFailed ? ', failed' : ''}${span.until === undefined ? ', still open' : ''}`;
  return (
    <li class="waterfall-row">
      <button
        type="button"
        class={`bar bar-${kind} ${isFailed ? 'is-failed' : ''} ${span.until === undefined ? 'is-open' : ''}`}
        style={{ left: `${left}%`, width: `${width}%` }}
        aria-label={words}
        title={words}
        onClick={() => onRow(row)}
      />
      <span
        class={`bar-name ${side === 'inside' && kind !== 'wait' ? 'is-inside' : ''}`}
        style={{ ...place, maxWidth: `${room}%` }}
        aria-hidden="true"
      >
        {name}{' '}
        <span class="bar-took">
          {took}
          {paid && <span class="bar-cost"> · {paid}</span>}
        </span>
      </span>
    </li>
  );
}

const costWords = (call: Call, currency: string | undefined): string | undefined =>
  call.kind === 'model' && call.usage
    ? [tokenWords({ ...call.usage, cachedInput: 0, reasoning: 0 }), money(call.cost, currency)]
        .filter(Boolean)
        .join(' · ')
    : undefined;
