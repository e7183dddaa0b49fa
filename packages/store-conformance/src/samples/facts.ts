import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { PushConfig, PushConfigStore, TaskStore } from '@batonjs/store';

/** The moment `ms` milliseconds into 2026, as facts write it. */
export const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

const written = (when: string) => ({ format: FACT_FORMAT, at: when }) as const;

export const received = (messageId = 'm1', contextId = 'c', when = at(0), text = 'hello'): Fact => ({
  ...written(when),
  type: 'message-received',
  message: { messageId, contextId, role: 'ROLE_USER', parts: [{ text }] },
});

export const created = (taskId = 't', contextId = 'c', when = at(0)): Fact => ({
  ...written(when),
  type: 'task-created',
  taskId,
  contextId,
});

export const status = (state: TaskState, when = at(0)): Fact => ({
  ...written(when),
  type: 'status-changed',
  status: { state, timestamp: when },
});

export const working = (when = at(0)): Fact => status('TASK_STATE_WORKING', when);
export const completed = (when = at(0)): Fact => status('TASK_STATE_COMPLETED', when);
/** The same message, for a skill. */
export const forSkill = (message: Fact, skill: string): Fact => ({ ...message, skill }) as Fact;

/** The task failed with a code. */
export const failedWith = (code: string, when = at(0)): Fact => ({
  ...written(when),
  type: 'status-changed',
  status: {
    state: 'TASK_STATE_FAILED',
    timestamp: when,
    message: {
      messageId: 'failure',
      role: 'ROLE_AGENT',
      parts: [{ text: 'no' }, { data: { code, message: 'no' } }],
    },
  },
});

export const cancelRequested = (when = at(0)): Fact => ({ ...written(when), type: 'cancel-requested' });

export const answered = (when = at(0)): Fact => ({
  ...written(when),
  type: 'answered',
  message: { messageId: 'answer', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] },
});

/** One numbered chunk of the artifact `numbers`. */
export const chunk = (number: number, text = ''): Fact => ({
  ...written(at(0)),
  type: 'artifact-updated',
  artifact: { artifactId: 'numbers', parts: [{ data: { chunk: number } }, { text }] },
  append: number > 1,
  lastChunk: false,
});

export type Both = TaskStore & PushConfigStore;

/** A webhook of task `t` as it is registered. */
export const push = (id: string, more: Partial<PushConfig> = {}) => ({
  scope: 's',
  taskId: 't',
  id,
  config: {
    id,
    taskId: 't',
    url: `https://example.com/${encodeURIComponent(id)}`,
    token: 'secret',
    authentication: { scheme: 'Bearer', credentials: 'also secret' },
  },
  protocolVersion: '1.0',
  queue: 'q',
  cursor: 0,
  ...more,
});

/** Ids that callers may use as scope, task, context, queue, holder, commit id or key. */
export const oddIds: readonly string[] = [
  ...`o'clock "quoted" \` \\ % _ * ? [a-z] : a:b a: :a {n} {0}:x }{ / .. - -- ; $1 ?1 @x # , |`.split(' '),
  ...'0 -1 1e3 null true constructor __proto__ toString A a é e\u0301 ß SS İ ı 日本 😀 👩‍👩‍👧‍👦'.split(' '),
  ...['a b', ' ', 'a ', ' a', '\t', '\n', '\r\n', '\u202e', '\ufeff', '\uffff'],
  'x'.repeat(1_024),
  `${'x'.repeat(1_023)}y`,
  wide('a'),
  wide('b'),
];

/** 1,024 characters that end with this one: 3,070 bytes, which no database can compress into one key of an index. */
export function wide(last: string): string {
  let number = 1;
  const characters = Array.from({ length: 1_023 }, () => {
    number = (number * 48_271) % 2_147_483_647;
    return String.fromCharCode(0x4e00 + (number % 20_000));
  });
  return characters.join('') + last;
}
