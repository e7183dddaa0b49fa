import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { completed, working } from '../../src/index.ts';

it.each([
  ['in its middle', 'version = 3'],
  ['at its start', 'version = 1'],
  ['at its end', 'version = (SELECT max(version) FROM facts)'],
  ['everywhere', 'true'],
])('a log that lacks facts %s is damage: requests say so, and lists do not drop it', async (_, where) => {
  const path = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  const agent = async function* () {
    yield working('one');
    yield completed('two');
  };
  const first = serve(agent, { store });
  const { task } = await rpc(first, 'SendMessage', { message: say('go') });
  const file = new DatabaseSync(path);
  expect(file.prepare(`DELETE FROM facts WHERE ${where}`).run().changes).toBeGreaterThan(0);
  file.prepare('DELETE FROM snapshots').run();
  file.close();
  const logged: [string, unknown][] = [];
  const server = serve(agent, {
    store,
    logger: (_level, message, about) => logged.push([message, Object(about?.err).message]),
  });
  const damage = expect.stringMatching(/^The log is damaged: the fact at \d+ is missing$/);
  await expect(rpc(server, 'GetTask', { id: task.id })).rejects.toMatchObject({ code: -32603 });
  expect(logged).toContainEqual(['A request failed', damage]);
  const { tasks } = await rpc(server, 'ListTasks', { historyLength: 10, includeArtifacts: true });
  expect(tasks).toMatchObject([{ id: task.id }]);
  expect(logged).toContainEqual(['A task cannot be read and is listed without its content', damage]);
});
