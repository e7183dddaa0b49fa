import { memoryStore } from '@batonjs/store-memory';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { createAgentServer, reply } from '../../../src/index.ts';

it('an error reaches pino with its message, its stack and its cause', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    logger,
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
        stack: expect.stringMatching(/TypeError: out of paper[\s\S]*logger\.test\.ts[\s\S]*tray is empty/),
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
    logger,
    agent: () => Promise.reject({ code: 7 }),
  });
  await rpc(server, 'SendMessage', { message: say('print') });
  await server.close();
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'An agent failed', err: { code: 7 } });
});

it('a warning has the level of the logger, and details that the logger adds', async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => lines.push(line) }).child({ service: 'a' });
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    logger,
    agent: () => reply('done'),
  });
  await server.fetch(new Request('http://localhost/agents/lost'));
  await server.close();
  const [line] = lines.map((written) => JSON.parse(written));
  expect(line).toMatchObject({ level: 40, service: 'a', path: '/agents/lost' });
});

it.each([{}, { error() {}, warn() {} }, 'console'])('%j is no log', (logger) => {
  const options = {
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    agent: () => reply('x'),
  };
  expect(() => createAgentServer({ ...options, logger: logger as never })).toThrow(
    new TypeError('`logger` must be a function, or a logger with the methods `error`, `warn` and `info`'),
  );
});
