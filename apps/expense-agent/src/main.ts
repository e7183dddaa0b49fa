import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { expenseAgent } from './agent.ts';
import { fileLedger, httpLedger } from './ledger.ts';

const { PORT = '4001', BATON_DATA = '.data', BATON_STORE, LEDGER_URL, DEADLINE_MS = '60000' } = process.env;
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/expense.db`);
const file = LEDGER_URL ? undefined : fileLedger(`${BATON_DATA}/expenses.db`);
const expense = expenseAgent(LEDGER_URL ? httpLedger(LEDGER_URL) : file);
// A question that is not answered within a week fails: a task that never ends is never pruned.
const timeouts = { inactivityMs: Number(DEADLINE_MS), interruptedMs: 7 * 24 * 60 * 60 * 1_000 };
const server = createAgentServer({
  ...expense,
  name: 'expense',
  store,
  timeouts,
  restart: 'rerun',
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The expense agent is at ${url}`);

const stop = () =>
  close()
    .then(() => store.close())
    .finally(() => file?.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
