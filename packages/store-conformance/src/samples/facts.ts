import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';

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
