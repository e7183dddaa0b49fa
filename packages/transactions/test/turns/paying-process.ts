/** A process whose agent pays under another name in each attempt, so that only the fence keeps it from paying twice. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { completed, createAgentServer } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { sqlDatabase, sqliteDatabase } from '../../src/index.ts';

const folder = process.env.FOLDER ?? '';
const { driver } = sqliteDatabase(new DatabaseSync(join(folder, 'bank.db')));
const bank = sqlDatabase<DatabaseSync>({
  ...driver,
  async transaction(run) {
    console.log(`${process.pid} begins`);
    await sleep(500);
    return await driver.transaction(run);
  },
});
const server = createAgentServer({
  card: { name: 'Payer', description: 'Pays' },
  store: sqliteStore(join(folder, 'tasks.db'), { durability: 'normal' }),
  restart: 'rerun',
  timeouts: { leaseMs: 300, sweepMs: 100 },
  logger: () => {},
  async *agent({ attempt, transaction }) {
    try {
      await transaction(`pay ${attempt}`, bank, (tx) => {
        tx.prepare('insert into payments values (?)').run(attempt);
      });
      console.log(`attempt ${attempt} paid`);
    } catch (error) {
      const { name, code } = Object(error);
      console.log(`attempt ${attempt} was refused: ${name} ${code}`);
      throw error;
    }
    yield completed();
  },
});
// A server keeps no process alive by itself.
setInterval(() => {}, 1_000);
if (process.env.SEND) {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'pay' }] };
  const request = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  void server.fetch(
    new Request('http://127.0.0.1/', { method: 'POST', headers, body: JSON.stringify(request) }),
  );
}
