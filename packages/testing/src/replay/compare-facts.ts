import type { Fact } from '@batonjs/lifecycle';
import { isSameJson } from '@batonjs/protocol/json';

/** How what an agent says is compared. `exact`: all of it, ids and times aside. `shape`: the kinds of its values. */
export type Comparison = 'exact' | 'shape';

/**
 * How a fact is found in the log: what an agent causes is `ordered`, or found by its name, such as a step; the rest comes
 * from others.
 */
const kinds = {
  'status-changed': 'ordered',
  'artifact-updated': 'ordered',
  answered: 'ordered',
  'labels-set': 'ordered',
  'memory-changed': 'ordered',
  'child-updated': 'ordered',
  'wake-set': 'ordered',
  'callback-opened': 'ordered',
  'step-completed': 'named',
  'step-failed': 'named',
  'message-taken': 'named',
  'message-received': 'foreign',
  'task-created': 'foreign',
  'turn-started': 'foreign',
  'turn-ended': 'foreign',
  woken: 'foreign',
  'cancel-requested': 'foreign',
  'turn-failed': 'foreign',
  'turn-paused': 'foreign',
  'turn-logged': 'foreign',
  'callback-received': 'foreign',
} as const satisfies Record<Fact['type'], 'ordered' | 'named' | 'foreign'>;

/** A fact that an agent causes, compared with the log in its order. */
export type OrderedFact = {
  [Type in Fact['type']]: (typeof kinds)[Type] extends 'ordered' ? Fact & { type: Type } : never;
}[Fact['type']];

export const isOrdered = (fact: Fact): fact is OrderedFact => kinds[fact.type] === 'ordered';
export const isNamed = ({ type }: Fact): boolean => kinds[type] === 'named';

/** Whether an agent did the same. `now`: the time of the replay, in milliseconds since 1970. */
export function isSameFact(
  recorded: Fact,
  produced: OrderedFact,
  comparison: Comparison,
  now: number,
): boolean {
  if (!isOrdered(recorded) || recorded.type !== produced.type) return false;
  if (recorded.type === 'wake-set' && produced.type === 'wake-set')
    return isSameWake(recorded, produced.time, now);
  const [one, other] = [contentOf(recorded), contentOf(produced)];
  return comparison === 'exact'
    ? isSameJson(withoutIds(one), withoutIds(other))
    : isSameJson(shapeOf(one), shapeOf(other));
}

/** How much later or earlier a turn may ask to be woken, in milliseconds: the agent ran at another speed. */
const toleratedMs = 60_000;

function isSameWake(
  { at, time: recorded }: Fact & { type: 'wake-set' },
  time: string | undefined,
  now: number,
): boolean {
  if (recorded === undefined || time === undefined) return recorded === time;
  const moved = Date.parse(time) - Date.parse(recorded);
  const sooner = moved - (now - Date.parse(at));
  return Math.abs(moved) <= toleratedMs || Math.abs(sooner) <= toleratedMs;
}

/** What an agent said, without what the server adds. */
function contentOf(fact: OrderedFact): unknown {
  switch (fact.type) {
    case 'status-changed': {
      const { state, message } = fact.status;
      return [state, message && [message.parts, message.metadata], fact.metadata, fact.question];
    }
    case 'artifact-updated':
      return [fact.artifact, fact.append, fact.lastChunk, fact.metadata];
    case 'answered':
      return [fact.message.parts, fact.message.metadata];
    case 'labels-set':
      return fact.labels;
    case 'memory-changed':
      return [fact.changes, fact.removed];
    case 'child-updated':
      return [fact.name, fact.child.agent];
    case 'callback-opened':
      return [fact.name, fact.schema];
    case 'wake-set':
      return fact.time;
    default:
      return fact satisfies never;
  }
}

const volatile =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?|\b1\d{12}\b|[\w-]{32,}/gi;

/** The value with the same text in place of each id, token and time. */
function withoutIds(value: unknown): unknown {
  return mapScalars(value, (scalar) => {
    if (typeof scalar === 'number') return scalar >= 1e12 && scalar < 2e12 ? '…' : scalar;
    return typeof scalar === 'string' ? scalar.replaceAll(volatile, '…') : scalar;
  });
}

/** The value with the kind of each text and number; the names of states and members stay. */
function shapeOf(value: unknown): unknown {
  return mapScalars(value, (scalar) =>
    typeof scalar === 'string' && scalar.startsWith('TASK_STATE_') ? scalar : typeof scalar,
  );
}

function mapScalars(value: unknown, map: (scalar: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapScalars(each ?? null, map));
  if (typeof value !== 'object' || value === null) return value === undefined ? null : map(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, mapScalars(member, map)]),
  );
}

/** A fact in a few words, for a report. */
export function describeFact(fact: Fact): string {
  switch (fact.type) {
    case 'status-changed': {
      const text = textIn(fact.status.message?.parts);
      return `${fact.status.state.replace('TASK_STATE_', '')}${text}`;
    }
    case 'artifact-updated':
      return `${fact.append ? 'a chunk of ' : ''}the artifact "${fact.artifact.artifactId}"${textIn(fact.artifact.parts)}`;
    case 'answered':
      return `a message${textIn(fact.message.parts)}`;
    case 'labels-set':
      return `the labels ${fact.labels.join(', ')}`;
    case 'memory-changed':
      return `the memory of ${[...Object.keys(fact.changes), ...(fact.removed ?? [])].join(', ')}`;
    case 'child-updated':
      return `the child "${fact.name}"`;
    case 'callback-opened':
      return `the callback "${fact.name}"`;
    case 'wake-set':
      return fact.time === undefined ? 'no time to be woken' : `${fact.time} as the time to be woken`;
    case 'step-completed':
    case 'step-failed':
      return `the step "${fact.name}"`;
    case 'message-taken':
      return 'a message that it takes';
    default:
      return fact.type;
  }
}

const longest = 80;

function textIn(parts: readonly object[] | undefined): string {
  const [part] = parts ?? [];
  if (!part) return '';
  const { text, data } = part as { readonly text?: unknown; readonly data?: unknown };
  const said =
    typeof text === 'string' ? JSON.stringify(text) : data === undefined ? '' : JSON.stringify(data);
  return said === '' ? '' : ` ${said.length > longest ? `${said.slice(0, longest)}…` : said}`;
}
