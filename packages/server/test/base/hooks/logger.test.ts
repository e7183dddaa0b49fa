import { memoryStore } from '@batonjs/store-memory';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { type Agent, createAgentServer, reply } from '../../../src/index.ts';

/** The task of a message to the agent, and the lines that pino wrote until the server was closed. */
async function printed(agent: Agent) {
  const lines: unknown[] = [];
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    logger: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
    agent,
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('print') });
  await server.close();
  return { task, lines };
}

it('an error reaches pino with its message, its stack and its cause', async () => {
  const { task, lines } = await printed(async function* () {
    yield* [];
    throw new TypeError('out of paper', { cause: new Error('the tray is empty') });
  });
  expect(lines).toMatchObject([
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
  const { lines } = await printed(() => Promise.reject({ code: 7 }));
  expect(lines[0]).toMatchObject({ msg: 'An agent failed', err: { code: 7 } });
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
