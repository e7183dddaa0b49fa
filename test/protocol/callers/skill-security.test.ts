import { anyOf, apiKey } from '@batonjs/auth';
import { skill, TYPED_SKILLS, typedSkills } from '@batonjs/extensions';
import {
  type AgentServerOptions,
  artifact,
  completed,
  createAgentServer,
  data,
  inputRequired,
  reply,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { say } from '../../kit/rpc.ts';
import { everywhere } from '../peer.ts';

/** Two keys of one caller, with different scopes, and a scheme of another kind. */
const authenticate = anyOf(
  apiKey({
    header: 'X-Key',
    name: 'key',
    keys: new Map([
      ['reader', { scope: 'ada', scopes: ['read'] }],
      ['writer', { scope: 'ada', scopes: ['read', 'write'] }],
    ]),
  }),
  apiKey({ header: 'X-Badge', name: 'badge', keys: new Map([['b', { scope: 'ada', scopes: ['write'] }]]) }),
);

const runs: string[] = [];
const about = (id: string, securityRequirements: object[]) => ({
  id,
  name: id,
  description: `Runs ${id}`,
  securityRequirements: securityRequirements as never,
});
const run = (id: string) =>
  async function* () {
    runs.push(id);
    yield artifact('result', data({ ran: id }));
    yield completed();
  };
const agent = () =>
  typedSkills(
    { name: 'Ledger', description: 'For tests' },
    skill({
      ...about('list', [{ schemes: { key: { list: ['read'] } } }, { schemes: { badge: {} } }]),
      input: z.object({ list: z.literal(true) }),
      run: run('list'),
    }),
    skill({
      ...about('post', [{ schemes: { key: { list: ['write'] } } }]),
      input: z.object({ post: z.string() }),
      run: run('post'),
    }),
    skill({ ...about('open', []), input: z.object({ open: z.literal(true) }), run: run('open') }),
  );

const named = (skillId: string, values: object) => ({
  message: { ...say(''), parts: [{ data: values }] },
  metadata: { [TYPED_SKILLS]: { skillId } },
});
const unnamed = (values: object, more: object = {}) => ({
  message: { ...say(''), parts: [{ data: values }], ...more },
});
const active = { 'a2a-extensions': TYPED_SKILLS };
const reader = { 'x-key': 'reader', ...active };
const writer = { 'x-key': 'writer', ...active };
const badge = { 'x-badge': 'b', ...active };

everywhere('The security requirements of a skill', (serve) => {
  const start = () => {
    runs.length = 0;
    return serve(agent().agent, { ...agent(), authenticate });
  };

  it('are met by the scopes that it asks for, in one of its ways [R-AUTH-01] [R-AUTH-05]', async () => {
    const { call } = await start();
    for (const [headers, id, values] of [
      [reader, 'list', { list: true }],
      [badge, 'list', { list: true }],
      [writer, 'post', { post: 'x' }],
      [badge, 'open', { open: true }],
    ] as const) {
      const { task } = await call('SendMessage', named(id, values), headers);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    }
    expect(runs).toEqual(['list', 'list', 'post', 'open']);
  });

  it('refuse a message that names the skill, with the missing scope, before it is stored [R-AUTH-01] [R-ERR-08]', async () => {
    const { call, stream } = await start();
    const wanted = named('post', { post: 'x' });
    const refusal = {
      reason: 'PERMISSION_DENIED',
      message: 'The skill "post" needs the scope write',
      metadata: { skill: 'post', scope: 'write' },
    };
    await expect(call('SendMessage', wanted, reader)).rejects.toMatchObject(refusal);
    await expect(stream('SendStreamingMessage', wanted, reader).next()).rejects.toMatchObject(refusal);
    expect((await call('ListTasks', {}, reader)).tasks).toEqual([]);
    expect(runs).toEqual([]);
  });

  it('refuse credentials of another scheme than the skill asks for, whatever their scopes [R-AUTH-01]', async () => {
    const { call } = await start();
    await expect(call('SendMessage', named('post', { post: 'x' }), badge)).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      message: 'The skill "post" needs the scheme key',
      metadata: { skill: 'post' },
    });
  });

  it('make the agent ask for better credentials if it chose the skill itself, and go on with them [R-AUTH-05]', async () => {
    const { call } = await start();
    const { task } = await call('SendMessage', unnamed({ post: 'x' }), reader);
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(task.status.message.parts[1].data).toEqual({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('"post"'),
      details: { skillId: 'post', schemes: [], scopes: ['write'] },
    });
    expect(runs).toEqual([]);
    const again = { message: { ...say('Again'), taskId: task.id } };
    const still = await call('SendMessage', again, reader);
    expect(still.task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    const better = { message: { ...say('With the other key'), taskId: task.id } };
    const done = await call('SendMessage', better, writer);
    expect(done.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toEqual(['post']);
  });
});

/** An agent that asks before it does anything. Its skill is in the metadata of the request. */
const asking: Partial<AgentServerOptions> & Pick<AgentServerOptions, 'agent'> = {
  card: { ...agent().card, skillOf: ({ metadata }) => metadata?.skill as string | undefined },
  authenticate,
  async *agent({ text }) {
    if (text === 'yes') {
      runs.push('did it');
      yield completed();
    } else yield inputRequired('Are you sure?');
  },
};

everywhere('The security requirements of the skills of a task', (serve) => {
  it.each([
    ['its first message', [{ skill: 'post' }]],
    ['a later message', [undefined, { skill: 'list' }, { skill: 'post' }, { skill: 'unknown' }, undefined]],
  ])(
    'hold for every later message, whatever that names, if %s named the skill [R-AUTH-01]',
    async (_, all) => {
      runs.length = 0;
      const { call } = await serve(asking.agent, asking);
      let taskId: string | undefined;
      const send = async (text: string, metadata: object | undefined, headers: Record<string, string>) => {
        const message = { ...say(text), ...(taskId && { taskId }) };
        const { task } = await call('SendMessage', { message, ...(metadata && { metadata }) }, headers);
        taskId = task.id;
        return task.status.state;
      };
      for (const metadata of all)
        expect(await send('Post 100 USD', metadata, writer)).toBe('TASK_STATE_INPUT_REQUIRED');
      for (const metadata of [undefined, { skill: 'list' }, { skill: 'open' }, { skill: 'unknown' }])
        await expect(send('yes', metadata, reader)).rejects.toMatchObject({
          reason: 'PERMISSION_DENIED',
          message: 'The skill "post" needs the scope write',
          metadata: { skill: 'post', scope: 'write' },
        });
      expect(runs).toEqual([]);
      expect(await send('yes', undefined, writer)).toBe('TASK_STATE_COMPLETED');
      expect(runs).toEqual(['did it']);
    },
  );
});

describe('the security requirements of a skill', () => {
  it('stand in the challenge of the refusal over HTTP [R-AUTH-01] [R-ERR-08]', async () => {
    const server = createAgentServer({ ...agent(), authenticate, store: memoryStore() });
    const ask = (headers: Record<string, string>) =>
      server.fetch(
        new Request('http://localhost/message:send', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
          body: JSON.stringify(named('post', { post: 'x' })),
        }),
      );
    const lacksScope = await ask(reader);
    expect([lacksScope.status, lacksScope.headers.get('www-authenticate')]).toEqual([
      403,
      'ApiKey realm="key", error="insufficient_scope", scope="write", in="header", name="X-Key"',
    ]);
    const lacksScheme = await ask(badge);
    expect([lacksScheme.status, lacksScheme.headers.get('www-authenticate')]).toEqual([
      403,
      'ApiKey realm="key", error="insufficient_scope", in="header", name="X-Key"',
    ]);
    await server.close();
  });

  it('stand in the challenge with the missing scopes of each scheme, where one request needs several', async () => {
    const both = skill({
      ...about('both', [{ schemes: { key: { list: ['write'] }, badge: { list: ['admin'] } } }]),
      input: z.object({}),
      run: run('both'),
    });
    const ledger = typedSkills({ name: 'Ledger', description: 'For tests' }, both);
    const server = createAgentServer({ ...ledger, authenticate, store: memoryStore() });
    const challengeFor = async (headers: Record<string, string>) => {
      const request = new Request('http://localhost/message:send', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
        body: JSON.stringify(named('both', {})),
      });
      return (await server.fetch(request)).headers.get('www-authenticate');
    };
    expect(await challengeFor(reader)).toBe(
      [
        'ApiKey realm="key", error="insufficient_scope", scope="write", in="header", name="X-Key"',
        'ApiKey realm="badge", error="insufficient_scope", scope="admin", in="header", name="X-Badge"',
      ].join(', '),
    );
    expect(await challengeFor(writer)).toBe(
      'ApiKey realm="badge", error="insufficient_scope", scope="admin", in="header", name="X-Badge"',
    );
    await server.close();
  });

  it('need `authenticate`: without it, no caller could meet them', () => {
    expect(() => createAgentServer({ ...agent(), store: memoryStore() })).toThrow(
      new TypeError('The `securityRequirements` of the skill "list" need `authenticate`'),
    );
  });

  it('need `card.skillOf`: without it, no message would be checked', () => {
    const { card, agent: run } = agent();
    const start = (more: { skillOf: (() => undefined) | undefined }) =>
      createAgentServer({ card: { ...card, ...more }, agent: run, authenticate, store: memoryStore() });
    expect(() => start({ skillOf: undefined })).toThrow(
      new TypeError(
        'The `securityRequirements` of the skill "list" need `card.skillOf`, which finds the skill of a message',
      ),
    );
    return start({ skillOf: () => undefined }).close();
  });

  it('can be enforced for agents that name their skills in another way', async () => {
    const { card } = agent();
    const server = createAgentServer({
      card: { ...card, skillOf: ({ message }) => (message.metadata?.skill as string) ?? undefined },
      agent: () => reply('done'),
      authenticate,
      store: memoryStore(),
    });
    const ask = (skillId: string) =>
      server.fetch(
        new Request('http://localhost/message:send', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-key': 'reader' },
          body: JSON.stringify({ message: { ...say('go'), metadata: { skill: skillId } } }),
        }),
      );
    expect((await ask('post')).status).toBe(403);
    expect((await ask('unknown')).status).toBe(200);
    await server.close();
  });
});
