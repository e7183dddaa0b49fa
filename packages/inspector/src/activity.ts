import { remember } from '@batonjs/protocol/bounded-map';
import { guardHook } from '@batonjs/protocol/hooks';
import { recordName } from '@batonjs/server/internals';
import type { AgentStore } from './agents/inspected.ts';
import { type ActionRecord, type FoundActivity, wordsOf } from './api/agent.ts';

/** How many actions are kept without a store, searched with one, and shown. */
const most = { own: 1_000, searched: 10_000, shown: 200 };
const keptMs = 90 * 86_400_000;
/** How long the same refusal is not kept again, in milliseconds: who may do nothing must not fill the store. */
const refusedMs = 3_600_000;

export type Activity = ReturnType<typeof activityOf>;

/** What was done with the inspectors on a store; without a store, with one since its process began. */
export function activityOf(
  onAction?: (record: ActionRecord) => void,
  store?: Pick<AgentStore, 'tasks' | 'queue'>,
) {
  // The function of the program must not undo what was done.
  const notify = guardHook('onAction', onAction);
  const prefix = recordName('inspector-activity', store?.queue ?? '', '');
  const refusals = new Map<string, number>();
  let own: readonly ActionRecord[] = [];
  let last = Number.POSITIVE_INFINITY;

  async function* newestFirst(): AsyncGenerator<ActionRecord, void, void> {
    yield* own;
    for (let after: string | undefined = ''; store && after !== undefined; ) {
      const page = await store.tasks.listRecords({ prefix, limit: 100, ...(after && { after }) });
      yield* page.map(({ value }) => value as ActionRecord);
      after = page.at(99)?.name;
    }
  }

  return {
    /** Tells the program of an action, and keeps it without what `hide` takes out of its JSON. Never rejects: it was done. */
    async add(record: ActionRecord, hide = (json: string) => json, isRefused = false): Promise<void> {
      notify(record);
      const [now, refusal] = [Date.now(), `${record.action} ${record.by}`];
      if (isRefused && now - (refusals.get(refusal) ?? 0) < refusedMs) return;
      if (isRefused) remember(refusals, refusal, now, most.own);
      const cut = (_: string, value: unknown) =>
        typeof value === 'string' ? value.slice(0, 500).toWellFormed() : value;
      // A secret that is cut would not be found.
      const kept = JSON.parse(hide(JSON.stringify(record)), cut);
      if (!store) own = [kept, ...own].slice(0, most.own);
      // Stores list records by name: the newest has the lowest.
      last = Math.min(last - 1, Number.MAX_SAFE_INTEGER - now);
      const name = `${prefix}${last}-${crypto.randomUUID()}`;
      await store?.tasks.putRecord(name, 0, kept, { ttlMs: keptMs }).catch(() => {});
    },

    /** The newest 200 actions that have all the words. */
    async search(text: string): Promise<FoundActivity> {
      const words = text.toLowerCase().split(/\s+/);
      const records: ActionRecord[] = [];
      let searched = 0;
      for await (const record of newestFirst()) {
        if (searched === most.searched || records.length === most.shown) break;
        searched += 1;
        const said = Object.values({ ...record, ...wordsOf(record) })
          .join(' ')
          .toLowerCase();
        if (words.every((word) => said.includes(word))) records.push(record);
      }
      return { records, searched, isKept: store !== undefined };
    },
  };
}
