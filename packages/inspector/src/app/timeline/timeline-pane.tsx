import { useMemo, useState } from 'preact/hooks';
import { Icon } from '../parts/bits.tsx';
import { Select } from '../parts/choice.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { clockTime, duration, plural } from '../parts/words.ts';
import { type ListedRow, listRows, type Timeline, type TimelineRow } from './timeline.ts';

type Kinds = 'all' | 'client' | 'inside';

const kinds: readonly (readonly [Kinds, string])[] = [
  ['client', 'What clients see'],
  ['all', 'Everything'],
  ['inside', 'Turns, steps, memory'],
];

const key = 'baton-inspector-entries';
const foldKey = 'baton-inspector-fold';

/** The entries that this browser showed last. */
const chosenKinds = (): Kinds => kinds.find(([kind]) => kind === localStorage.getItem(key))?.[0] ?? 'client';

interface TimelinePaneProps {
  readonly timeline: Timeline;
  readonly version: number;
  /** How many rows count; undefined shows the present. */
  readonly position: number | undefined;
  readonly onPosition: (position: number | undefined) => void;
}

/** A gap from this many milliseconds on is set off. */
const longGapMs = 1_000;

/** The rows of a timeline, and a slider that goes back to any of them. */
export function TimelinePane({ timeline, version, position, onPosition }: TimelinePaneProps) {
  const [shown, setShown] = useState(chosenKinds);
  const count = timeline.rows.length;
  const [isFolded, setFolded] = useState(() => localStorage.getItem(foldKey) !== 'no');
  const rows = useMemo(
    () => listRows(timeline.rows, (row) => isShown(row, shown), isFolded),
    [timeline, version, shown, isFolded],
  );
  const fold = (folds: boolean) => {
    localStorage.setItem(foldKey, folds ? 'yes' : 'no');
    setFolded(folds);
  };
  const choose = (kind: Kinds) => {
    localStorage.setItem(key, kind);
    setShown(kind);
  };
  const isLive = position === undefined;
  const current = isLive ? count : position;
  const selected = rows.findLastIndex(({ index }) => index < current);
  return (
    <div class="timeline">
      <div class="timeline-tools">
        <Select label="Entries" chosen={shown} values={kinds} onChoose={choose} />
        <label class="fold">
          <input type="checkbox" checked={isFolded} onChange={(event) => fold(event.currentTarget.checked)} />
          Fold chunks
        </label>
        <span class="spacer" />
        <span class="muted timeline-count">{plural(count, 'entry', 'entries')}</span>
      </div>
      <VirtualList
        items={rows}
        rowHeight={32}
        label="Timeline"
        selected={selected}
        isFollowing={isLive}
        onSelect={(place) => onPosition((rows[place]?.index ?? 0) + 1)}
        rowClass={({ row, index }) =>
          `entry tone-${row.described.tone} ${index >= current ? 'is-later' : ''}`
        }
        row={(listed, place) => <EntryRow {...listed} before={rows[place - 1]?.row} />}
      />
      <Scrub count={count} position={position} onPosition={onPosition} />
    </div>
  );
}

interface ScrubProps extends Pick<TimelinePaneProps, 'position' | 'onPosition'> {
  readonly count: number;
}

/** Goes back to any entry, and to the present. */
function Scrub({ count, position, onPosition }: ScrubProps) {
  const isLive = position === undefined;
  const current = isLive ? count : position;
  return (
    <div class="scrub">
      <input
        type="range"
        min={count === 0 ? 0 : 1}
        max={count}
        value={current}
        aria-label="Position in the timeline"
        aria-valuetext={`${current} of ${count}`}
        onInput={(event) => {
          const value = Number(event.currentTarget.value);
          onPosition(value === count ? undefined : value);
        }}
      />
      <output class="scrub-position">{`${current} / ${count}`}</output>
      <button
        type="button"
        class={`button ${isLive ? 'is-on' : ''}`}
        aria-pressed={isLive}
        onClick={() => onPosition(undefined)}
      >
        <Icon name="live" />
        Live
      </button>
    </div>
  );
}

interface EntryRowProps extends ListedRow {
  /** The row above, to which the gap is told: others may be hidden. */
  readonly before: TimelineRow | undefined;
}

function EntryRow({ row, first = row, chunks, before }: EntryRowProps) {
  const { entry, described } = row;
  const gapMs = before && Math.max(0, lengthOf(before, first) ?? 0);
  const isLong = gapMs !== undefined && gapMs >= longGapMs;
  const durationMs = chunks ? lengthOf(first, row) : row.durationMs;
  return (
    <>
      <span class="entry-seq">{entry.notice ? '·' : entry.seq}</span>
      <span class="entry-time">{entry.at ? clockTime(entry.at) : '–'}</span>
      <span class={`entry-gap ${isLong ? 'is-long' : ''}`}>{gapMs ? `+${duration(gapMs)}` : ''}</span>
      <Icon name={described.icon} />
      <span class="entry-label">{described.label}</span>
      <span class="entry-text">{chunks ? `${chunks} chunks · ${described.text}` : described.text}</span>
      {durationMs !== undefined && durationMs > 0 && (
        <span class="entry-duration">{duration(durationMs)}</span>
      )}
    </>
  );
}

/** From the first chunk to the last one, in milliseconds. */
const lengthOf = ({ entry: { at: from } }: TimelineRow, { entry: { at: to } }: TimelineRow) =>
  from === undefined || to === undefined ? undefined : Date.parse(to) - Date.parse(from);

function isShown({ entry: { fact, event, message, notice } }: TimelineRow, shown: Kinds): boolean {
  if (shown === 'all') return true;
  const isClients =
    Boolean(event || message) ||
    /^(message-received|task-created|status-changed|artifact-updated|answered)$/.test(fact?.type ?? '');
  return shown === 'client' ? isClients || notice !== undefined : !isClients;
}
