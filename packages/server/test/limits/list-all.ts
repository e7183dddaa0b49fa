/** Makes large tasks, lists all of them with everything in them, and says what it saw: in a heap as small as its parent chose. */
import { randomBytes } from 'node:crypto';
import { sqliteStore } from '@batonjs/store-sqlite';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { completed, createAgentServer } from '../../src/index.ts';

const [file = '', count = '', bytes = ''] = process.argv.slice(2);
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests' },
  store: sqliteStore(file, { durability: 'normal' }),
  limits: { replyBytes: 4 * 1024 * 1024 },
  async *agent() {
    yield completed();
  },
});
for (let n = 0; n < Number(count); n++) {
  const text = randomBytes(Number(bytes) / 2).toString('hex');
  await rpc(server, 'SendMessage', { message: say(text), configuration: { historyLength: 0 } });
}
const lengths: number[] = [];
const seen = new Set<string>();
let pageToken = '';
do {
  const page = await rpc(server, 'ListTasks', { pageSize: 100, historyLength: 100, pageToken });
  for (const { id, history } of page.tasks)
    if (history[0].parts[0].text.length === Number(bytes)) seen.add(id);
  lengths.push(page.tasks.length);
  pageToken = page.nextPageToken;
} while (pageToken !== '');
await server.close();
process.stdout.write(
  JSON.stringify({ seen: seen.size, pages: lengths.length, longest: Math.max(...lengths) }),
);
