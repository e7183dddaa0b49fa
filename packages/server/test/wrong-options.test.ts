import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { type AgentServerOptions, createAgentServer, reply } from '../src/index.ts';

const agent = () => reply('Hello');
const create = (options: object) => () =>
  createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    agent,
    ...options,
  } as AgentServerOptions);

describe('createAgentServer says what to do about', () => {
  const remedy =
    "give the agent a card such as { name: 'Weather', description: 'Says how the weather will be' }";

  it.each([
    ['no card', undefined, 'name'],
    ['a card without a name', { description: 'For tests' }, 'name'],
    ['a blank name', { name: ' ', description: 'For tests' }, 'name'],
    ['a card without a description', { name: 'Test' }, 'description'],
  ])('%s', (_, card, member) => {
    expect(create({ card })).toThrow(new TypeError(`\`card.${member}\` is missing: ${remedy}`));
  });

  it.each(['/weather', 'agents.example', 'localhost:4000', 'xhttp://agents.example', 'https:', ''])(
    'the `publicUrl` "%s"',
    (publicUrl) => {
      expect(create({ publicUrl })).toThrow(
        new TypeError(
          '`publicUrl` must be the whole URL at which clients reach the agent, ' +
            `such as 'https://agents.example/weather', and is '${publicUrl}'`,
        ),
      );
    },
  );
});

describe('the log of a server names an unknown option', () => {
  it.each([
    ['publicURL', 'did you mean `publicUrl`?'],
    ['onEvents', 'did you mean `onEvent`?'],
    ['leaseMs', 'did you mean `timeouts.leaseMs`?'],
    ['authentication', 'did you mean `authenticate`?'],
    ['constructor', 'remove it'],
    ['port', 'remove it'],
  ])('%s', (name, advice) => {
    const lines: unknown[] = [];
    serve(agent, { [name]: 'x', logger: (...line) => void lines.push(line) });
    expect(lines).toEqual([['warn', `There is no option \`${name}\`: ${advice}`, {}]]);
  });

  it.each([
    [{ limits: { turn: 1 } }, '`limits.turn`: did you mean `limits.turns`?'],
    [{ push: { allows: [] } }, '`push.allows`: did you mean `push.allow`?'],
    [{ push: { retry: { attempts: 2 } } }, '`push.retry.attempts`: did you mean `push.retry.maxAttempts`?'],
    [{ queue: { perCallers: 2 } }, '`queue.perCallers`: did you mean `queue.perCaller`?'],
    [{ timeouts: { tasksMs: 1 } }, '`timeouts.tasksMs`: did you mean `timeouts.taskMs`?'],
    [{ retention: { closedAfterMs: 1, everyDay: 1 } }, '`retention.everyDay`: remove it'],
    [
      {
        retention: {
          closedAfterMs: 1,
          rules: [
            { skill: 'a', closedAfterMs: 1 },
            { skil: 'b', skill: 'b', closedAfterMs: 1 },
          ],
        },
      },
      '`retention.rules[1].skil`: did you mean `retention.rules[1].skill`?',
    ],
    [{ retry: { retrie: 1 } }, '`retry.retrie`: did you mean `retry.retries`?'],
    [{ retry: { backoff: { maxMss: 1 } } }, '`retry.backoff.maxMss`: did you mean `retry.backoff.maxMs`?'],
    [{ retry: { steps: { timeout: 1 } } }, '`retry.steps.timeout`: did you mean `retry.steps.timeoutMs`?'],
    [
      { retry: { steps: { backoff: { initialsMs: 1 } } } },
      '`retry.steps.backoff.initialsMs`: did you mean `retry.steps.backoff.initialMs`?',
    ],
    [
      { limits: { callers: { request: {} } } },
      '`limits.callers.request`: did you mean `limits.callers.requests`?',
    ],
  ])('inside of another one: %j', (options, line) => {
    const lines: unknown[] = [];
    serve(agent, { ...(options as object), logger: (...said) => void lines.push(said) });
    expect(lines).toEqual([['warn', `There is no option ${line}`, {}]]);
  });

  it('and none of those that exist, inside of others either', () => {
    const lines: unknown[] = [];
    const logger = (...line: unknown[]) => void lines.push(line);
    const push = { allow: ['a.example'], http: true, retry: { maxAttempts: 2 } };
    const backoff = { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
    const retry = { retries: 1, backoff, retryIf: () => true };
    serve(agent, {
      push,
      limits: { turns: 1 },
      timeouts: { taskMs: 1_000 },
      retry: { ...retry, steps: { ...retry, timeoutMs: 1 } },
      logger,
    });
    serve(agent, { push: false, logger });
    expect(lines).toEqual([]);
  });

  it('also before it throws, because the option is missing under its own name', () => {
    const lines: unknown[] = [];
    const logger = (_: string, message: string) => void lines.push(message);
    expect(create({ store: undefined, stores: memoryStore(), logger })).toThrow(
      '`store` must be a task store',
    );
    expect(lines).toEqual(['There is no option `stores`: did you mean `store`?']);
  });
});

it.each([
  ['http://127.0.0.1:9/hook', '127.0.0.1:*'],
  ['http://localhost:9/hook', 'localhost:*'],
  ['http://[::1]:9/hook', '[::1]:*'],
  ['https://10.1.2.3/hook', '10.1.2.3:*'],
])('the refusal of the webhook %s names the option that accepts it', async (url, entry) => {
  const send = (push?: AgentServerOptions['push']) =>
    rpc(serve(agent, push ? { push } : {}), 'SendMessage', {
      message: say('go'),
      configuration: { taskPushNotificationConfig: { url } },
    });
  const refused = await send().catch((error: unknown) => error);
  const description = `must lead to a public address; the option \`push: { allow: ['${entry}'] }\` of the server accepts this one`;
  expect(JSON.stringify(refused)).toContain(description);
  await expect(send({ allow: [entry] })).resolves.toBeDefined();
});
