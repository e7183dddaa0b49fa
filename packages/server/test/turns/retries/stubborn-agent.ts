import { type Agent, completed, working } from '../../../src/index.ts';

/**
 * An agent that counts its attempts in its memory and logs each, keeps a step for the task, tries one step at once and one after a long
 * wait, and throws once.
 */
export const stubbornAgent: Agent = async function* ({ memory, step, log, attempt }) {
  yield working();
  log.info(`Attempt ${attempt}`);
  await memory.set('attempts', (memory.get<number>('attempts') ?? 0) + 1);
  await step('plan', { keep: 'task' }, () => 'made');
  await step('soon', { retries: 2, backoff: { initialMs: 50 } }, ({ attempt }) => {
    if (attempt < 3) throw new Error('Busy');
  });
  await step('late', { retries: 1, backoff: { initialMs: 5_200, jitter: 0 } }, ({ attempt }) => {
    if (attempt === 1) throw new Error('Busy');
  });
  if (!memory.get('thrown')) {
    await memory.set('thrown', true);
    throw new Error('Once');
  }
  yield { ...completed(`${memory.get('attempts')}`), memory: { thrown: undefined, done: true } };
};

/** What a server needs for it. */
export const stubbornly = {
  restart: { maxAttempts: 100 },
  timeouts: { leaseMs: 1_000 },
  retry: { retries: 1, backoff: { initialMs: 100, jitter: 0 } },
} as const;
