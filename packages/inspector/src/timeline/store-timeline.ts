import type { PushConfig, Scope } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import type { Entry, Notice, TimelineUpdate } from '../api/timeline.ts';
import { pause } from '../pause.ts';
import { withoutQuery } from '../wire/without-secrets.ts';

/** Facts in one read. */
const pageSize = 500;
/** How often leases and deliveries are read, in milliseconds: no fact tells of them. */
const lookEveryMs = 1_000;
/** The most webhooks of one task that are watched. */
const mostWebhooks = 20;

/**
 * The log of a task after the position that a reader knows, then every new fact, and what changes beside the log: its lease, its deadline and
 * its deliveries. Ends when the signal aborts.
 */
export async function* storeTimeline(
  { tasks, webhooks }: AgentStore,
  scope: Scope,
  taskId: string,
  known: { readonly after: number; readonly source: string | null },
  signal: AbortSignal,
): AsyncGenerator<TimelineUpdate, void, void> {
  const { after } = known;
  let wake = () => {};
  let isNotified = false;
  const log = await tasks.load(scope, taskId);
  if (!log) return yield { type: 'problem', message: `The store has no task ${taskId}` };
  const source = await tasks.identity();
  // Another store, or a log that became shorter: the reader's position means nothing.
  const isAnew = after > 0 && (known.source !== source || log.version < after);
  let version = isAnew ? 0 : after;
  yield { type: 'open', source, kind: 'log', isAnew };
  const unsubscribe = await tasks.subscribe({ scope, taskId }, () => {
    isNotified = true;
    wake();
  });
  const said = new Map<string, string>();
  try {
    while (!signal.aborted) {
      isNotified = false;
      for (;;) {
        const facts = await tasks.readFacts(scope, taskId, version, pageSize);
        if (facts.length === 0) break;
        version = facts.at(-1)!.version;
        yield {
          type: 'entries',
          entries: facts.map(({ version, fact }) => ({ seq: version, at: fact.at, fact })),
        };
      }
      const notices = [...(await beside()), ...(await deliveries())];
      const entries = notices.filter(isNew(said)).map(seen(version));
      if (entries.length > 0) yield { type: 'entries', entries };
      yield { type: 'live' };
      if (!isNotified)
        await pause(lookEveryMs, signal, (resume) => {
          wake = resume;
        });
    }
  } finally {
    await unsubscribe();
  }

  async function beside(): Promise<Notice[]> {
    const now = await tasks.load(scope, taskId);
    const lease = await tasks.lease?.(scope, taskId);
    // A lease that ended before anyone looked is no news.
    const isNews = lease && (lease.holder || lease.isWanted || said.has('lease'));
    return [
      ...(lease && isNews ? [{ type: 'lease' as const, ...lease }] : []),
      ...(now?.head.dueAt ? [{ type: 'deadline' as const, dueAt: now.head.dueAt }] : []),
    ];
  }

  async function deliveries(): Promise<Notice[]> {
    const found = (await webhooks?.listPushConfigs(scope, taskId, { limit: mostWebhooks })) ?? [];
    return found.map(toDelivery);
  }
}

/** Whether a notice says something else than the last one about the same thing. */
const isNew =
  (known: Map<string, string>) =>
  (notice: Notice): boolean => {
    const key = notice.type === 'delivery' ? `delivery ${notice.id}` : notice.type;
    const text = JSON.stringify(notice);
    if (known.get(key) === text) return false;
    known.set(key, text);
    return true;
  };

const seen =
  (version: number) =>
  (notice: Notice): Entry => ({ seq: version, at: new Date().toISOString(), notice });

function toDelivery({ id, config, cursor, attempts, retryAt, dead }: PushConfig): Notice {
  return {
    type: 'delivery',
    id,
    url: withoutQuery(config.url),
    cursor,
    attempts,
    ...(retryAt !== undefined && { retryAt }),
    ...(dead !== undefined && { dead }),
  };
}
