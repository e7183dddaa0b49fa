import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rpc, say } from '../kit/rpc.ts';
import { builtProgram } from '../support/built-program.ts';
import { dueServers, kinds, paces } from './due-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** What a run of tasks among short lives has shown. */
export interface DueKills {
  readonly kills: number;
  readonly freezes: number;
  readonly scheduled: number;
  /** Steps that a process began once more after it was frozen in the moment before: it asked the store before that moment. */
  readonly thawed: number;
  /** How late the tasks of the schedule and the ends by deadlines were, in milliseconds: the middle one, and the last one. */
  readonly late: Readonly<Record<'schedule' | 'deadline', readonly [middle: number, most: number]>>;
  /** Questions whose webhook came after their deadline, which a busy machine does: no one could answer. */
  readonly unanswered: number;
  /** Everything that is wrong. */
  readonly problems: readonly string[];
}

interface Life {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  /** Resolves when it has started, which takes long on a busy machine. */
  readonly began: Promise<unknown>;
}

/**
 * Begins tasks of all kinds, and has them worked on only by processes that live for a moment, and are killed or frozen
 * then, until all tasks have ended or `forMs` is over.
 */
export async function outliveKills(options: {
  readonly address: StoreAddress;
  readonly folder: string;
  readonly count: number;
  readonly forMs: number;
  /** How many live at once. */
  readonly processes: number;
  readonly pace: keyof typeof paces;
}): Promise<DueKills> {
  const { address, folder, count, forMs, processes } = options;
  const { leaseMs, waitMs, deadlineMs, lifeMs, everyS } = paces[options.pace];
  const program = await builtProgram(new URL('./run-due.ts', import.meta.url));
  const journal = join(folder, 'journal');
  writeFileSync(journal, '');
  const store = openStore(address);
  const servers = dueServers(journal, store, paces[options.pace]);
  const [server, child] = servers;
  const heard = new Map<string, string>();
  const kindsOf = new Map<string, (typeof kinds)[number]>();
  const asked = new Map<string, number>();
  const answered = new Set<string>();
  const isSilent = (id: string) =>
    kindsOf.get(id) === 'silent' || (kindsOf.get(id) === 'ask' && !answered.has(id));
  const isOver = (id: string) => /COMPLETED|FAILED/.test(heard.get(id) ?? '');
  // A process that goes on after it was frozen may send an older update once more.
  const webhooks = await webhookReceiver((taskId, { state, timestamp }) => {
    if (isOver(taskId)) return;
    heard.set(taskId, state);
    if (state === 'TASK_STATE_INPUT_REQUIRED') asked.set(taskId, Date.parse(timestamp));
  });
  const until = performance.now() + forMs;
  const living = new Set<Life>();
  const frozen = new Set<Life>();
  const thawedPids = new Set<number>();
  let [kills, freezes] = [0, 0];

  function begin(): Life {
    const child = fork(program, [JSON.stringify(address), journal, options.pace], { execArgv: [] });
    const life = { child, ended: once(child, 'exit'), began: once(child, 'message') };
    living.add(life);
    return life;
  }

  async function kill(life: Life, signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown[]> {
    living.delete(life);
    life.child.kill(signal);
    return life.ended;
  }

  /** Goes on after others have taken over, and is killed like the others. */
  function thaw(life: Life): void {
    if (!frozen.delete(life)) return;
    thawedPids.add(life.child.pid!);
    life.child.kill('SIGCONT');
  }

  try {
    for (let n = 0; n < count; n++) {
      const kind = kinds[n % kinds.length]!;
      const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: webhooks.url } };
      kindsOf.set((await rpc(server, 'SendMessage', { message: say(kind), configuration })).task.id, kind);
    }
    const lives = Array.from({ length: processes }, async (_, n) => {
      for (let round = n; performance.now() < until && ![...kindsOf.keys()].every(isOver); round++) {
        const life = begin();
        await Promise.race([life.began, life.ended]);
        // Longer and longer: a busy machine ends them, too.
        await sleep(lifeMs * (0.75 + Math.random() / 2) + 100 * round);
        // One that is frozen in the middle of a write would keep the file of SQLite to itself.
        if (round % 2 === 0 && address.kind !== 'sqlite') {
          life.child.kill('SIGSTOP');
          frozen.add(life);
          freezes++;
          void sleep(2 * leaseMs).then(() => thaw(life));
          void sleep(4 * leaseMs).then(() => kill(life, 'SIGKILL'));
        } else {
          await kill(life, 'SIGKILL');
          kills++;
        }
      }
    });
    const answering = (async () => {
      while (performance.now() < until && ![...kindsOf.keys()].every(isOver)) {
        // By what a webhook said, as a person is asked.
        for (const [id, at] of asked) {
          if (answered.has(id) || kindsOf.get(id) !== 'ask' || isOver(id) || Date.now() - at < waitMs / 2)
            continue;
          const message = say('ask', { taskId: id });
          const sent = rpc(server, 'SendMessage', { message, configuration: { returnImmediately: true } });
          // Refused, if its deadline was sooner.
          await sent.then(() => answered.add(id)).catch(() => {});
        }
        await sleep(200);
      }
    })();
    await Promise.all([...lives, answering]);
    for (const life of [...frozen]) thaw(life);
    // Nothing that runs began keeps a process alive.
    const last = begin();
    await last.began;
    const read = () => readJournal(readFileSync(journal, 'utf8'), kindsOf, isSilent, thawedPids, everyS);
    for (let n = 0; n < 200 && (n < 10 || read().problems.length > 0); n++) await sleep(100);
    const [code, signal] = await kill(last, 'SIGTERM');
    const problems = code === 0 ? [] : [`A process that was told to end ended with ${code ?? signal}`];
    const deadlines: number[] = [];
    for (const [id, kind] of kindsOf) {
      const { state, timestamp } = (await rpc(server, 'GetTask', { id })).status;
      if (kind === 'silent') deadlines.push(Date.parse(timestamp) - asked.get(id)! - deadlineMs);
      const wanted = isSilent(id) ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED';
      if (state !== wanted) problems.push(`${id} (${kind}) is ${state}`);
      if (heard.get(id) !== state) problems.push(`The webhook of ${id} heard of ${heard.get(id)}`);
    }
    const calls = [...kindsOf.values()].filter((kind) => kind === 'call').length;
    const { totalSize } = await rpc(child, 'ListTasks', { pageSize: 1 });
    if (totalSize !== calls) problems.push(`${calls} calls have ${totalSize} children`);
    const { lateness, ...noted } = read();
    const late = { schedule: middleAndMost(lateness), deadline: middleAndMost(deadlines) };
    const unanswered = [...kindsOf].filter(([id, kind]) => kind === 'ask' && !answered.has(id)).length;
    return { kills, freezes, ...noted, late, unanswered, problems: [...problems, ...noted.problems] };
  } finally {
    await Promise.all([...living].map((life) => kill(life, 'SIGKILL')));
    await Promise.all(servers.map((one) => one.close()));
    webhooks.close();
    await store.close();
  }
}

/** What the processes wrote down: no step began once it had returned, and each time of the schedule had one task. */
function readJournal(
  text: string,
  kindsOf: ReadonlyMap<string, string>,
  isSilent: (id: string) => boolean,
  thawedPids: ReadonlySet<number>,
  everyS: number,
) {
  const problems: string[] = [];
  const begun = new Map<string, Set<string>>();
  const returned = new Set<string>();
  const times = new Map<string, string>();
  const lateness: number[] = [];
  let thawed = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    const [pid = '', taskId = '', name = '', what = '', at] = line.split(' ');
    const step = `${taskId} ${name}`;
    if (taskId === 'schedule') {
      if ((times.get(name) ?? what) !== what) problems.push(`${name} has two tasks`);
      else if (!times.has(name)) lateness.push(Number(at) - Date.parse(name));
      times.set(name, what);
    } else if (what === 'returned') returned.add(step);
    else {
      begun.set(taskId, (begun.get(taskId) ?? new Set()).add(name));
      if (!returned.has(step)) continue;
      if (thawedPids.has(Number(pid))) thawed++;
      else problems.push(`${step} began again after it had returned`);
    }
  }
  for (const [id, kind] of kindsOf) {
    const names = [...(begun.get(id) ?? [])].sort().join('');
    if (names !== (isSilent(id) ? 'abc' : 'abcd')) problems.push(`${id} (${kind}) had the steps ${names}`);
  }
  const due = [...times.keys()].map((time) => Date.parse(time)).sort((one, other) => one - other);
  for (const [n, at] of due.entries())
    if (n > 0 && at - due[n - 1]! !== everyS * 1_000)
      problems.push(`The schedule left out a time before ${at}`);
  return { problems, thawed, lateness, scheduled: due.length };
}

function middleAndMost(values: readonly number[]): [number, number] {
  const sorted = [...values].sort((one, other) => one - other);
  return [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0];
}

async function webhookReceiver(
  hear: (taskId: string, status: { state: string; timestamp: string }) => unknown,
) {
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { task, statusUpdate } = JSON.parse(Buffer.concat(chunks).toString());
    if (task) hear(task.id, task.status);
    else if (statusUpdate) hear(statusUpdate.taskId, statusUpdate.status);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const close = () => void http.close().closeAllConnections();
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`, close };
}
