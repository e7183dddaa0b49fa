import { SCHEDULING } from '@batonjs/protocol/headers';
import { type Agent, completed, createAgentServer, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { change } from '../kit/faulty-store.ts';
import { frequentPolls } from '../kit/frequent-polls.ts';
import { rpc, say } from '../kit/rpc.ts';

/**
 * A process of its own, whose wall clock is an hour ahead while it starts and is corrected then. Prints what happened
 * after that, as JSON. Its argument is the path of a file of SQLite, or nothing for a store in memory.
 */
const { now } = Date;
let ahead = 3_600_000;
Date.now = () => now() + ahead;

const path = process.argv[2];
let polls = 0;
const store = change(path ? sqliteStore(path) : memoryStore(), {
  claim: (claim) => (request) => {
    polls++;
    return claim(request);
  },
});
const turns: Record<string, number> = {};
const agent: Agent = async function* ({ text, wakeAt }) {
  const turn = (turns[text] ?? 0) + 1;
  turns[text] = turn;
  yield working();
  if (text === 'reminder') return await wakeAt(Date.now() + 30_000);
  if (text === 'immediateWakes' && turn < 1_000) return await wakeAt(Date.now());
  yield completed();
};
const steps: unknown[] = [];
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests', capabilities: { extensions: [{ uri: SCHEDULING }] } },
  agent,
  store,
  clock: frequentPolls(),
  logger: (_, message, about) => {
    if (/clock/.test(message)) steps.push([message, Math.round(Number(about?.byMs) / 1_000)]);
  },
});
const configuration = { returnImmediately: true };
const send = (text: string, notBefore?: number) => {
  const wish = notBefore && { metadata: { [SCHEDULING]: { notBefore: new Date(notBefore).toISOString() } } };
  const headers = { 'a2a-extensions': SCHEDULING };
  return rpc(server, 'SendMessage', { message: say(text, { ...wish }), configuration }, headers);
};
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

await send('before');
await until(() => turns.before === 1);
ahead = 0;
await send('report', now() + 57 * 60_000);
await send('reminder');
await send('immediateWakes');
await send('after');
await until(() => turns.after === 1);
const corrected = polls;
await until(() => polls >= corrected + 12);
const whileCorrected = { ...turns };
// An hour later by the clock, which is set forwards, the message that is postponed is due.
ahead = 3_600_000;
// A claim that read the clock before has started it perhaps: the step is found by the next one.
await until(() => turns.report === 1 && steps.length > 1);
await server.close();
await store.close();
process.stdout.write(`${JSON.stringify({ whileCorrected, steps })}\n`);
