import type { Head } from '@batonjs/lifecycle';
import type { Message, TaskState } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';
import { textOf } from '@batonjs/protocol/parts';
import type { ListedTask, Scope, StoredFact, TaskPage, TaskStore } from '@batonjs/store';

/** A person who was asked a question by a link. */
export interface Assignee {
  readonly by: string;
  /** Until when the link takes an answer: ISO 8601. */
  readonly expiresAt: string;
}

/** A task in the list. */
export interface TaskRow {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** When the status changed last: ISO 8601. Absent if the agent does not say. */
  readonly statusAt?: string;
  /**
   * What it is about, in a line of at most 120 characters: its label that begins with `title:`, else its first message.
   * Absent while it is not known.
   */
  readonly title?: string;
  /** When its first message came: ISO 8601. Absent if the agent does not say. */
  readonly startedAt?: string;
  /** When it is due without a message: ISO 8601; known from a store only. */
  readonly dueAt?: string;
  /** Without the one that is its title. */
  readonly labels?: readonly string[];
  /** The skills that its messages named; known from a store only. */
  readonly skills?: readonly string[];
  /** The code with which it failed. */
  readonly code?: string;
  /** What its models cost, without the tasks below it; known from a store only. Absent without any. */
  readonly costs?: Head['costs'];
  /** The text of the status' message, at most 200 characters. */
  readonly text?: string;
  /** Who was asked its question by links; known from a store only. Absent if no one was. */
  readonly assignees?: readonly Assignee[];
  /** The length of the log; known from a store only. */
  readonly version?: number;
  /** The label of the caller, where the agent has several. */
  readonly caller?: string;
  /** The number of the latest turn and of its attempt; known from a store only. */
  readonly turn?: number;
  readonly attempt?: number;
}

/** Makes rows of the tasks of a page, with what their logs say of them; those that were read are remembered. */
export function taskRows(store: Pick<TaskStore, 'readFacts'>) {
  const [withBriefs, withAssignees, withLastSaid] = [briefs(store), assignees(store), withLast(store)];
  return async (scope: Scope, page: Pick<TaskPage, 'tasks'>): Promise<readonly TaskRow[]> => {
    const known = await withLastSaid(scope, page.tasks.map(toRow), page);
    return withAssignees(scope, await withBriefs(scope, known), page);
  };
}

export function toRow({ taskId: id, head, fact }: ListedTask): TaskRow {
  const { contextId, state = 'TASK_STATE_UNSPECIFIED', statusAt, version, turn, attempt } = head;
  const { dueAt, code, costs, skills, labels } = head;
  const said = fact?.fact.type === 'status-changed' ? fact.fact.status.message : undefined;
  const more = { ...{ dueAt, code, costs, skills }, text: said && shortText(textOf(said)) };
  return { id, contextId, state, statusAt, version, turn, attempt, ...more, ...readLabels(labels) };
}

/** What an agent threw, or made last, stands at most so many facts before the status that ends the task. */
const factsBefore = 5;

/** Adds to the rows of failed tasks what the agent threw, and to those of tasks completed without a word what it made last. */
const withLast = (store: Pick<TaskStore, 'readFacts'>) =>
  adding(
    ({ state, text }) => state === 'TASK_STATE_FAILED' || (state === 'TASK_STATE_COMPLETED' && !text),
    async ({ scope, row: { id, state }, statusVersion }) => {
      const after = Math.max(0, statusVersion - factsBefore);
      const facts = await store.readFacts(scope, id, after, factsBefore);
      const wanted = state === 'TASK_STATE_FAILED' ? 'turn-failed' : 'artifact-updated';
      const fact = facts.findLast(({ fact: { type } }) => type === wanted)?.fact;
      if (fact?.type === 'turn-failed') return { text: shortText(fact.message) };
      if (fact?.type !== 'artifact-updated') return {};
      const text = textOf(fact.artifact) || (fact.artifact.name ?? '');
      return text === '' ? {} : { text: shortText(`${fact.append ? '…' : ''}${text}`) };
    },
  );

/** Of how many tasks it is remembered what they are about, and what else is added: those of the pages that are looked at. */
const most = { briefs: 20_000, added: 5_000 };

/** Adds to rows what their tasks are about. One whose log cannot be read stays as it is. */
export function briefs(store: Pick<TaskStore, 'readFacts'>) {
  const read = remembered(
    most.briefs,
    ({ scope, id }: { readonly scope: Scope; readonly id: string }) => `${scope} ${id}`,
    async ({ scope, id }): Promise<Pick<TaskRow, 'title' | 'startedAt'> | undefined> => {
      const [first] = await store.readFacts(scope, id, 0, 1);
      if (!first) return undefined;
      const { fact } = first;
      return {
        startedAt: fact.at,
        ...(fact.type === 'message-received' && { title: titleOf(fact.message) }),
      };
    },
  );
  return async (scope: Scope, rows: readonly TaskRow[]): Promise<TaskRow[]> => {
    const found = await read(rows.map(({ id }) => ({ scope, id })));
    return rows.map((row, index) => ({ ...found[index], ...row }));
  };
}

/** A row, and where its status stands in the log. */
interface Placed {
  readonly scope: Scope;
  readonly row: TaskRow;
  readonly statusVersion: number;
}

/** Adds to the rows of a page that want it what `read` finds in their logs. */
function adding(wants: (row: TaskRow) => boolean, read: (placed: Placed) => Promise<Partial<TaskRow>>) {
  const keyOf = ({ scope, row: { id, version = 0 } }: Placed) => `${scope} ${id} ${version}`;
  const readAll = remembered(most.added, keyOf, read);
  return async (scope: Scope, rows: readonly TaskRow[], { tasks }: Pick<TaskPage, 'tasks'>) => {
    const placed = rows.flatMap((row, index): Placed[] =>
      wants(row) ? [{ scope, row, statusVersion: tasks[index]?.head.statusVersion ?? 0 }] : [],
    );
    const found = await readAll(placed);
    const added = new Map(placed.map(({ row }, index) => [row, found[index]]));
    return rows.map((row): TaskRow => ({ ...row, ...added.get(row) }));
  };
}

/** How many logs are read at once. */
const atOnce = 32;

/**
 * Reads something of logs, in their order, and remembers the latest results. A log that cannot be read gives undefined, and
 * is read again the next time.
 */
function remembered<Log, Value>(
  most: number,
  keyOf: (log: Log) => string,
  read: (log: Log) => Promise<Value | undefined>,
): (logs: readonly Log[]) => Promise<readonly (Value | undefined)[]> {
  const known = new Map<string, Value>();
  const readOne = async (log: Log): Promise<Value | undefined> => {
    const value = await read(log).catch(() => undefined);
    if (value === undefined) return undefined;
    remember(known, keyOf(log), value, most);
    return value;
  };
  return async (logs) => {
    const values: (Value | undefined)[] = [];
    for (let from = 0; from < logs.length; from += atOnce) {
      const part = logs.slice(from, from + atOnce).map((log) => known.get(keyOf(log)) ?? readOne(log));
      // Known results are not awaited: the list is read again twice a second.
      const isKnown = part.every((value) => !(value instanceof Promise));
      values.push(...(isKnown ? (part as Value[]) : await Promise.all(part)));
    }
    return values;
  };
}

/** How many facts are read: those just before the question, where an agent makes links, and those after it. */
const facts = { before: 20, after: 80 };

/** Adds to the rows of a page the people that have their questions by links. A log that cannot be read names no one. */
export const assignees = (store: Pick<TaskStore, 'readFacts'>) =>
  adding(
    ({ state }) => state === 'TASK_STATE_INPUT_REQUIRED',
    async ({ scope, row: { id }, statusVersion }) => {
      const after = Math.max(0, statusVersion - facts.before);
      const people = assigneesIn(await store.readFacts(scope, id, after, facts.before + facts.after));
      return people.length > 0 ? { assignees: people } : {};
    },
  );

/** Who was asked since the latest message of a client, each once. */
function assigneesIn(read: readonly StoredFact[]): readonly Assignee[] {
  const asked = new Map<string, Assignee>();
  for (const { fact } of read) {
    if (fact.type === 'message-received') asked.clear();
    if (fact.type === 'callback-opened' && fact.answers)
      asked.set(fact.answers.by, { by: fact.answers.by, expiresAt: fact.expiresAt });
  }
  return [...asked.values()];
}

/** The longest title in characters. */
const longest = 120;

/** What a task is about, in one line: the text of its first message, else its data or the name of its file. */
export function titleOf(message: Message | undefined): string | undefined {
  const parts: readonly { text?: string; filename?: string; url?: string; data?: unknown }[] =
    message?.parts ?? [];
  const part = parts.find(({ text }) => text?.trim()) ?? parts[0];
  const words = part?.text ?? part?.filename ?? part?.url ?? JSON.stringify(part?.data);
  const line = words
    ?.slice(0, 4 * longest)
    .replace(/\s+/g, ' ')
    .trim();
  if (!line) return undefined;
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** The label by which an agent says what a task is about. */
const titleLabel = /^title:\s*(\S.*)$/s;

/** What labels say: the title, if one of them is it, and the others. */
export function readLabels(labels: readonly string[] = []): { title?: string; labels?: readonly string[] } {
  const title = labels.map((label) => titleLabel.exec(label)?.[1]).find(Boolean);
  const others = labels.filter((label) => !titleLabel.test(label));
  return { ...(title && { title }), ...(others.length > 0 && { labels: others }) };
}

/** The text of a status in a row. */
export const shortText = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
