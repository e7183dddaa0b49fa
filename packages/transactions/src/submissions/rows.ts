import type { SendMessageRequest } from '@batonjs/protocol';
import type { Caller } from '@batonjs/server';
import type { SqlSession } from '../sql-session.ts';
import { now } from '../tables/schema.ts';

/** A message that waits, and how often it was tried, this time included. */
export interface Submission {
  readonly seq: number;
  readonly taskId: string;
  readonly request: SendMessageRequest;
  readonly caller: Caller | undefined;
  readonly tries: number;
}

/** What became of a submission: it is deleted, kept with its error, or tried again after so many milliseconds. */
export type Outcome =
  | { readonly seq: number; readonly done: true }
  | { readonly seq: number; readonly error: string }
  | { readonly seq: number; readonly pauseMs: number };

/** How long a process has for what it claimed. Another one sends it again then, which the server recognises. */
const claimMs = 30_000;

/**
 * Claims at most `most` submissions for this process, the oldest first. One of a task waits for those of that task
 * before it.
 */
export function claim<Tx>(session: SqlSession<Tx>, agent: string, most: number): Promise<Submission[]> {
  const time = now[session.dialect];
  const skipLocked = session.dialect === 'postgres' ? 'for update of waiting skip locked' : '';
  return session.transaction(async (tx) => {
    const rows = await session.query(
      tx,
      `update baton_submissions set due = ${time} + ${claimMs}, tries = tries + 1 where seq in (
select seq from baton_submissions as waiting
where agent = $1 and error is null and due <= ${time} and not exists (
  select 1 from baton_submissions as earlier
  where earlier.agent = waiting.agent and earlier.task = waiting.task and earlier.error is null
  and earlier.seq < waiting.seq)
order by seq limit $2 ${skipLocked})
returning seq, task, request, tries`,
      [agent, most],
    );
    return rows.map(({ seq, task, request: json, tries }) => {
      const { request, caller }: Pick<Submission, 'request' | 'caller'> = JSON.parse(String(json));
      return { seq: Number(seq), taskId: String(task), request, caller, tries: Number(tries) };
    });
  });
}

/** Records what became of submissions. */
export async function settle<Tx>(session: SqlSession<Tx>, outcomes: readonly Outcome[]): Promise<void> {
  const time = now[session.dialect];
  await session.transaction(async (tx) => {
    for (const outcome of outcomes) {
      const { seq } = outcome;
      if ('done' in outcome) await session.query(tx, 'delete from baton_submissions where seq = $1', [seq]);
      else if ('error' in outcome)
        await session.query(tx, 'update baton_submissions set error = $1 where seq = $2', [
          outcome.error,
          seq,
        ]);
      else
        await session.query(tx, `update baton_submissions set due = ${time} + $1 where seq = $2`, [
          outcome.pauseMs,
          seq,
        ]);
    }
  });
}
