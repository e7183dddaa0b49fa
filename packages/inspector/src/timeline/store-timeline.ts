import type { Scope } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import type { Beside, TimelineUpdate } from '../api/timeline.ts';
import { RequestError } from '../http/reply.ts';
import { News } from '../pause.ts';

/** Facts in one read. */
const pageSize = 500;
/** How often leases and deliveries are read, in milliseconds: no fact tells of them. */
const lookEveryMs = 1_000;
/** The most webhooks of one task that are watched. */
const mostWebhooks = 20;

/** Rejects with a `RequestError` of status 404 if the store has no such task. */
export async function mustHaveTask({ tasks }: AgentStore, scope: Scope, taskId: string): Promise<void> {
  if (!(await tasks.load(scope, taskId))) throw new RequestError(404, `The store has no task ${taskId}`);
}

/**
 * The log of a task after the position that a reader knows, then every new fact, and what stands beside the log whenever it
 * changed: its lease, its deadline and its deliveries. Ends when the signal aborts.
 */
export async function* storeTimeline(
  { tasks, webhooks, queue, unserved }: AgentStore,
  scope: Scope,
  taskId: string,
  known: { readonly after: number; readonly source: string | null },
  signal: AbortSignal,
): AsyncGenerator<TimelineUpdate, void, void> {
  const { after } = known;
  const news = new News();
  const log = await tasks.load(scope, taskId);
  if (!log) return yield { type: 'problem', message: `The store has no task ${taskId}` };
  const source = await tasks.identity();
  // Another store, or a log that became shorter: the reader's position means nothing.
  const isRestart = after > 0 && (known.source !== source || log.version < after);
  let version = isRestart ? 0 : after;
  yield { type: 'open', source, kind: 'log', isRestart, now: Date.now() };
  const unsubscribe = await tasks.subscribe({ scope, taskId }, news.notify);
  let said = '';
  try {
    while (!signal.aborted) {
      for (;;) {
        const facts = await tasks.readFacts(scope, taskId, version, pageSize);
        if (facts.length === 0) break;
        version = facts.at(-1)!.version;
        yield {
          type: 'entries',
          entries: facts.map(({ version, fact }) => ({ seq: version, at: fact.at, fact })),
        };
      }
      const beside = await readBeside();
      const text = JSON.stringify(beside);
      if (text !== said) yield { type: 'beside', beside };
      said = text;
      yield { type: 'live' };
      await news.wait(lookEveryMs, signal);
    }
  } finally {
    await unsubscribe();
  }

  async function readBeside(): Promise<Beside> {
    const now = await tasks.load(scope, taskId);
    const lease = await tasks.lease?.(scope, taskId);
    const version = await unserved.versionFor(scope, taskId);
    const found = (await webhooks?.listPushConfigs(scope, taskId, { limit: mostWebhooks })) ?? [];
    return {
      lease: lease?.holder || lease?.isWanted ? lease : undefined,
      dueAt: now?.head.dueAt,
      waitsFor: version === undefined ? undefined : { version, queue },
      deliveries: found.map(({ id, config, cursor, attempts, retryAt, dead }) => {
        return { id, url: URL.parse(config.url)?.origin ?? '', cursor, attempts, retryAt, dead };
      }),
    };
  }
}
