import { type AgentClient, connect } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { type Agent, type AgentServer, completed, inputRequired, reply } from '@batonjs/server';
import type { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { type McpOptions, toMcp } from '../../src/index.ts';
import { capabilitiesOf, showsForms } from '../../src/tasks/task-options.ts';
import { mcpClient, serveAgent, serveMcp, textOf, versions } from '../clients.ts';

const skills = [{ id: 's', name: 'S', description: 'Does it', tags: [] }];
const card = { name: 'Test', description: 'For tests', skills };

/** A client of an agent, and the requests that it sent. */
async function clientOf(server: Pick<AgentServer, 'fetch'>) {
  const sent: { method: string; params: Record<string, never>; extensions: string | null }[] = [];
  const agent = await connect('http://localhost', {
    async fetch(request) {
      if (request.method === 'POST') {
        const { method, params } = await request.clone().json();
        sent.push({ method, params, extensions: request.headers.get('a2a-extensions') });
      }
      return server.fetch(request);
    },
  });
  return { agent, sent };
}

/** The client with other members. */
const withMembers = (agent: AgentClient, members: object): AgentClient =>
  Object.create(agent, Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value }])));

const serverOf = (agent: AgentClient, era: 'legacy' | 'modern', options?: McpOptions) =>
  toMcp(agent, options)({ era }) as Server & {
    _serverInfo: object;
    _capabilities: object;
    _instructions?: string;
  };

describe('the MCP server of an agent', () => {
  it.each(versions)('introduces itself to clients of MCP %s with the card', async (version) => {
    const served = await serveAgent({ card: { ...card, version: '1.2.3' }, agent: () => reply('x') });
    const client = await mcpClient((await serveMcp(served.agent)).url, version);
    expect(client.getServerVersion()).toEqual({ name: 'Test', version: '1.2.3' });
    expect(client.getInstructions()).toBe('For tests');
    const { tasks, tools } = client.getServerCapabilities() as Record<string, object>;
    expect(tools).toBeDefined();
    const isLegacy = version === '2025-11-25';
    expect(tasks).toEqual(isLegacy ? { list: {}, cancel: {}, requests: { tools: { call: {} } } } : undefined);
    const listed = (await client.listTools()).tools.map(({ name, execution }) => [
      name,
      execution?.taskSupport,
    ]);
    expect(listed).toEqual([
      ['continue_task', undefined],
      ['s', isLegacy ? 'optional' : undefined],
    ]);
  });

  it('has a version and no instructions where the card has none', async () => {
    const { agent } = await serveAgent({ card, agent: () => reply('x') });
    const bare = withMembers(agent, { card: { ...agent.card, description: '', version: '' } });
    const { _serverInfo: info, _instructions: instructions } = serverOf(bare, 'modern');
    expect([info, instructions]).toEqual([{ name: 'Test', version: '0.0.0' }, undefined]);
  });

  it('takes every wait up to the longest that a timer can have', async () => {
    const { agent } = await serveAgent({ card, agent: () => reply('x') });
    for (const waitMs of [0, 1, 2 ** 31 - 1]) expect(() => toMcp(agent, { waitMs })).not.toThrow();
    expect(() => toMcp(agent, { waitMs: -1 })).toThrow(
      new RangeError('waitMs is from 0 to 2147483647, not -1'),
    );
  });

  it('reads the card again for each list, and lists the old tools where it cannot', async () => {
    const { agent } = await serveAgent({ card, agent: () => reply('x') });
    let reads = 0;
    const counted: AgentClient = withMembers(agent, {
      async readCard() {
        reads += 1;
        if (reads > 1) throw new Error('Not now');
        return agent.card;
      },
    });
    const { url, errors } = await serveMcp(counted);
    const client = await mcpClient(url, '2025-11-25');
    for (const _ of [1, 2]) expect((await client.listTools()).tools).toHaveLength(2);
    expect([reads, errors.map(String)]).toEqual([2, ['Error: Not now']]);
  });

  it('activates the extensions that the agent offers, of those that it understands', async () => {
    const uris = [TASK_ERROR, FORM_INPUT, TYPED_SKILLS, TASK_PROGRESS, 'https://other.example'];
    const offered = { ...card, capabilities: { extensions: uris.map((uri) => ({ uri })) } };
    const { server } = await serveAgent({ card: offered, agent: () => reply('x') });
    const { agent, sent } = await clientOf(server);
    const client = await mcpClient((await serveMcp(agent)).url, '2026-07-28');
    await client.callTool({ name: 's', arguments: { message: 'x' } });
    expect(sent[0]!.extensions?.split(/, */)).toEqual([FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS]);
  });

  it('asks for no extensions of an agent that offers none', async () => {
    const { server } = await serveAgent({ card, agent: () => reply('x') });
    const { agent, sent } = await clientOf(server);
    const bare = withMembers(agent, { card: { ...agent.card, capabilities: undefined } });
    const client = await mcpClient((await serveMcp(bare)).url, '2026-07-28');
    expect(textOf(await client.callTool({ name: 's', arguments: { message: 'x' } }))).toBe('x');
    expect(sent[0]!.extensions).toBeNull();
  });

  it('sends the message, and the data beside it', async () => {
    const { agent } = await serveAgent({
      card,
      agent: ({ message: { parts } }) => reply(JSON.stringify(parts)),
    });
    const client = await mcpClient((await serveMcp(agent)).url, '2026-07-28');
    const sent = async (args: object) =>
      textOf(await client.callTool({ name: 's', arguments: args as never }));
    expect(JSON.parse(await sent({ message: 'x', data: { a: 1 } }))).toMatchObject([
      { text: 'x' },
      { data: { a: 1 } },
    ]);
    expect(JSON.parse(await sent({ message: 'x' }))).toHaveLength(1);
  });

  it.each<[object | undefined, RegExp]>([
    [undefined, /^The arguments do not fit the tool\nmessage: .+$/],
    [{ message: '' }, /^The arguments do not fit the tool\nmessage: .+$/],
    [{ message: 'x', data: [1] }, /^The arguments do not fit the tool\ndata: .+$/],
    [{ message: 1, data: 1 }, /^The arguments do not fit the tool\nmessage: .+\ndata: .+$/],
  ])('refuses the arguments %j', async (args, words) => {
    const { agent } = await serveAgent({ card, agent: () => reply('x') });
    const client = await mcpClient((await serveMcp(agent)).url, '2026-07-28');
    const result = await client.callTool({ name: 's', ...(args && { arguments: args as never }) });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(words)]);
  });
});

describe('the tool that continues a task', () => {
  const asking: Agent = async function* ({ messages, text }) {
    if (messages.length === 1) yield inputRequired('Which?');
    else yield completed(`So ${text}`);
  };

  async function waiting() {
    const { agent, server } = await serveAgent({ card, agent: asking });
    const { task } = await agent.send('x');
    const client = await mcpClient((await serveMcp(agent)).url, '2026-07-28');
    const go = (args: object) =>
      client.callTool({ name: 'continue_task', arguments: { taskId: task!.id, ...args } });
    return { agent, server, go, id: task!.id };
  }

  it.each<[object]>([
    [{ answer: 'a', values: {} }],
    [{ values: {}, cancel: true }],
    [{ answer: '', cancel: true }],
  ])('takes one of its members, not %j', async (args) => {
    const { go } = await waiting();
    expect(textOf(await go(args))).toContain('At most one of answer, values and cancel');
  });

  it('takes an answer beside a cancellation that is none', async () => {
    const { go } = await waiting();
    expect(textOf(await go({ answer: 'red', cancel: false }))).toBe('So red');
  });

  it('says why it does not go on with what is none of its members', async () => {
    const { go } = await waiting();
    const result = await go({ answer: 1 });
    expect([result.isError, textOf(result)]).toEqual([
      true,
      expect.stringMatching(/^The arguments do not fit the tool\nanswer: /),
    ]);
  });

  it('cancels the task, also a second time', async () => {
    const { go, agent, id } = await waiting();
    for (const _ of [1, 2]) {
      const canceled = await go({ cancel: true });
      expect([canceled.isError, textOf(canceled)]).toEqual([undefined, 'The task was canceled']);
    }
    expect((await agent.task(id).get()).status.state).toBe('TASK_STATE_CANCELED');
  });

  it.each<[string, boolean | undefined, string]>([
    ['TASK_STATE_FAILED', true, 'The task failed'],
    ['TASK_STATE_COMPLETED', undefined, ''],
  ])('reports a task that ended as %s while it was canceled', async (state, isError, words) => {
    const { agent } = await serveAgent({ card, agent: asking });
    const ended = { id: 't', contextId: 'c', status: { state } };
    const task = () => ({ id: 't', cancel: async () => ended });
    const client = await mcpClient((await serveMcp(withMembers(agent, { task }))).url, '2026-07-28');
    const result = await client.callTool({ name: 'continue_task', arguments: { taskId: 't', cancel: true } });
    expect([result.isError, textOf(result)]).toEqual([isError, words]);
  });
});

describe('what a client of MCP can', () => {
  const context = (envelope?: object) => ({ mcpReq: { envelope } }) as never;
  const form = { elicitation: { form: {} } };

  it('is said in its request, else in its session', () => {
    expect(capabilitiesOf(context({ 'io.modelcontextprotocol/clientCapabilities': form }), {})).toEqual(form);
    expect(capabilitiesOf(context({}), form)).toEqual(form);
    expect(capabilitiesOf(context(), form)).toEqual(form);
    expect(capabilitiesOf(context(), undefined)).toEqual({});
  });

  it.each<[object, boolean]>([
    [{}, false],
    [{ elicitation: {} }, true],
    [{ elicitation: { form: {} } }, true],
    [{ elicitation: { form: {}, url: {} } }, true],
    [{ elicitation: { url: {} } }, false],
  ])('is to show forms, or not: %j', (capabilities, shows) => {
    expect(showsForms(capabilities)).toBe(shows);
  });
});
