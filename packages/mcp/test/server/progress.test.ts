import type { AgentEvent } from '@batonjs/client';
import { TASK_PROGRESS } from '@batonjs/extensions/client';
import type { AgentCard } from '@batonjs/protocol';
import type { ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { progressNotifier } from '../../src/server/to-mcp.ts';

const of = { taskId: 't', contextId: 'c' };

const status = (text: string, progress?: number, total = 4): AgentEvent => ({
  statusUpdate: {
    ...of,
    status: {
      state: 'TASK_STATE_WORKING',
      ...(text && { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } }),
    },
    ...(progress !== undefined && { metadata: { [TASK_PROGRESS]: { aggregate: { progress, total } } } }),
  },
});

const artifact = (text: string): AgentEvent => ({
  artifactUpdate: { ...of, artifact: { artifactId: 'a', parts: [{ text }] } },
});

/** What a client is told of these events. */
async function told(events: readonly AgentEvent[], card: Partial<AgentCard>, meta?: object) {
  const sent: { method: string; params: Record<string, unknown> }[] = [];
  const mcpReq = { ...(meta && { _meta: meta }), notify: async (each: never) => void sent.push(each) };
  const notify = progressNotifier({ mcpReq } as unknown as ServerContext, card as AgentCard);
  for (const event of events) await notify(event);
  expect(new Set(sent.map(({ method }) => method))).toEqual(
    new Set(sent.length > 0 ? ['notifications/progress'] : []),
  );
  return sent.map(({ params }) => params);
}

const asked = { progressToken: 0 };
const events = [
  { task: { id: 't', status: { state: 'TASK_STATE_SUBMITTED' } } } as AgentEvent,
  status('Reading', 1),
  status('Thinking'),
  artifact('one'),
  status('Back', 1),
  status('', 3, 5),
];

describe('a client that asked for progress', () => {
  it('is told the numbers of an agent that has some, which only grow', async () => {
    const extensions = [{ uri: 'https://other.example' }, { uri: TASK_PROGRESS }];
    expect(await told(events, { capabilities: { extensions } }, asked)).toStrictEqual([
      { progressToken: 0, progress: 1, total: 4, message: 'Reading' },
      { progressToken: 0, progress: 1 + 1e-6, message: 'Thinking' },
      { progressToken: 0, progress: 1 + 1e-6 + 1e-6, message: 'one' },
      { progressToken: 0, progress: 1 + 1e-6 + 1e-6 + 1e-6, total: 4, message: 'Back' },
      { progressToken: 0, progress: 3, total: 5 },
    ]);
  });

  it.each<[string, Partial<AgentCard>]>([
    ['other extensions only', { capabilities: { extensions: [{ uri: 'https://other.example' }] } }],
    ['no extensions', { capabilities: {} }],
    ['no capabilities', {}],
  ])('is told how many updates there were, of an agent with %s', async (_what, card) => {
    const all = await told(events, card, asked);
    expect(all.map(({ progress, total, message }) => [progress, total, message])).toEqual([
      [1, undefined, 'Reading'],
      [2, undefined, 'Thinking'],
      [3, undefined, 'one'],
      [4, undefined, 'Back'],
      [5, undefined, undefined],
    ]);
  });

  it('is told at most 1,000 characters of a message', async () => {
    const [first] = await told([status('x'.repeat(1_001))], {}, asked);
    expect(first!.message).toBe('x'.repeat(1_000));
  });
});

it.each([[undefined], [{}]])('a client that did not ask for progress is told nothing: %j', async (meta) => {
  expect(await told(events, {}, meta)).toEqual([]);
});
