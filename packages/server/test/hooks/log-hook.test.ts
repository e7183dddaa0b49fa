import { memoryStore } from '@batonjs/store-memory';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { createAgentServer, type Log } from '../../src/index.ts';

it('an error reaches pino with its message, its stack and its cause', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const log: Log = (level, message, details) => logger[level](details, message);
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    log,
    async *agent() {
      yield* [];
      throw new TypeError('out of paper', { cause: new Error('the tray is empty') });
    },
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('print') });
  await server.close();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      msg: 'An agent failed',
      taskId: task.id,
      err: {
        type: 'TypeError',
        message: expect.stringMatching('out of paper: the tray is empty'),
        stack: expect.stringMatching(/TypeError: out of paper[\s\S]*log-hook\.test\.ts[\s\S]*tray is empty/),
      },
    },
  ]);
});

it('a thrown value that is no error reaches pino as it is', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    log: (level, message, details) => logger[level](details, message),
    agent: () => Promise.reject({ code: 7 }),
  });
  await rpc(server, 'SendMessage', { message: say('print') });
  await server.close();
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'An agent failed', err: { code: 7 } });
});
