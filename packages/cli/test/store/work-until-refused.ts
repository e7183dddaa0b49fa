import { writeSync } from 'node:fs';
import { completed, createAgentServer, working } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { rpc, say } from '../../../../test/kit/rpc.ts';

// Sends messages to a server of its own, and prints the task of each answer, and how it was refused.

const server = createAgentServer({
  card: { name: 'Used', description: 'Is used' },
  store: sqliteStore(process.argv[2]!),
  logger: () => {},
  agent: async function* ({ text, step }) {
    await step('add', () => 1);
    yield working();
    yield completed(text);
  },
});

for (let n = 0; ; n++) {
  // A blocking call would wait for a turn that cannot go on.
  const configuration = { returnImmediately: true };
  const answer = rpc(server, 'SendMessage', { message: say(`${process.pid} ${n}`), configuration });
  const line = await answer.then(
    ({ task }) => task.id,
    ({ reason }) => `refused ${reason}`,
  );
  writeSync(1, `${line}\n`);
}
