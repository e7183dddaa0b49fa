import type { AgentReply } from '@batonjs/client';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import type { AgentCard, Message, Part, Task, TaskState } from '@batonjs/protocol';
import { asSchema } from 'ai';
import { describe, expect, it } from 'vitest';
import { skillTools, toolName } from '../../src/tools/a2a-tools.ts';
import { toolResult } from '../../src/tools/result.ts';

const said = (...parts: Part[]): Message => ({ messageId: 'm', role: 'ROLE_AGENT', parts });
const task = (state: TaskState, message?: Message, ...artifacts: Part[][]): AgentReply => ({
  task: {
    id: 't',
    contextId: 'c',
    status: { state, ...(message && { message }) },
    artifacts: artifacts.map((parts, n) => ({ artifactId: `a${n}`, parts })),
  },
});
const about = { taskId: 't', contextId: 'c' };

describe('the result of a tool', () => {
  it.each<[string, AgentReply, object]>([
    [
      'a message',
      { message: said({ text: 'Hello' }, { data: 1 }) },
      { state: 'message', text: 'Hello', data: 1 },
    ],
    ['nothing', {} as AgentReply, { state: 'failed', text: '' }],
    [
      'artifacts',
      task(
        'TASK_STATE_COMPLETED',
        said({ text: 'Done' }, { data: 'no' }),
        [{ text: 'a' }, { data: { n: 1 } }],
        [{ text: 'b' }],
      ),
      {
        state: 'completed',
        text: 'a\n\nb',
        data: { n: 1 },
        message: 'Done',
        messageData: 'no',
        ...about,
      },
    ],
    [
      'several data',
      task('TASK_STATE_COMPLETED', undefined, [{ data: 1 }], [{ data: 2 }]),
      { state: 'completed', text: '', data: [1, 2], ...about },
    ],
    [
      'files',
      task('TASK_STATE_COMPLETED', undefined, [
        { raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' },
        { url: 'https://a.example' },
        { raw: 'aGk=' },
      ]),
      {
        state: 'completed',
        text: '',
        files: [{ name: 'a.txt', mediaType: 'text/plain' }, { url: 'https://a.example' }, {}],
        ...about,
      },
    ],
    [
      'words at its end',
      task('TASK_STATE_COMPLETED', said({ text: 'Done' }, { data: null }, { url: 'https://b.example' })),
      {
        state: 'completed',
        text: '',
        files: [{ url: 'https://b.example' }],
        message: 'Done',
        messageData: null,
        ...about,
      },
    ],
    [
      'a question, with what was made so far',
      task('TASK_STATE_INPUT_REQUIRED', said({ text: 'Which?' }, { data: 2 }), [
        { text: 'half' },
        { data: 1 },
      ]),
      { state: 'input-required', text: 'half', data: 1, message: 'Which?', messageData: 2, ...about },
    ],
    [
      'an authorization',
      task('TASK_STATE_AUTH_REQUIRED', said({ text: 'Sign in' })),
      { state: 'auth-required', text: '', message: 'Sign in', ...about },
    ],
    [
      'a failure',
      task('TASK_STATE_FAILED', said({ text: 'No' }), [{ text: 'half' }]),
      { state: 'failed', text: 'half', message: 'No', ...about },
    ],
    ['a rejection', task('TASK_STATE_REJECTED'), { state: 'rejected', text: '', ...about }],
    ['a cancellation', task('TASK_STATE_CANCELED'), { state: 'canceled', text: '', ...about }],
    ['a task that still runs', task('TASK_STATE_WORKING'), { state: 'failed', text: '', ...about }],
    [
      'a task without a context and artifacts',
      { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' } } as Task },
      { state: 'completed', text: '', taskId: 't' },
    ],
  ])('that is %s', (_what, reply, result) => {
    expect(toolResult(reply)).toStrictEqual(result);
  });
});

describe('the tools of a card', () => {
  const skill = (id: string, more: object = {}) => ({
    id,
    name: `Name ${id}`,
    description: `About ${id}`,
    tags: [],
    ...more,
  });
  const cardWith = (skills: readonly object[] | undefined, extensions?: readonly object[]) =>
    ({
      name: 'Agent',
      description: 'Helps',
      ...(skills && { skills }),
      ...(extensions && { capabilities: { extensions } }),
    }) as unknown as AgentCard;
  const schema = { type: 'object', properties: { a: {} } };
  const typed = (skills: unknown) => [
    { uri: 'https://other.example', params: { skills: { s: { input: schema } } } },
    { uri: TYPED_SKILLS, params: { skills } },
  ];
  const messageSchema = {
    type: 'object',
    properties: {
      message: { type: 'string', description: 'What the agent is asked to do, complete by itself' },
    },
    required: ['message'],
    additionalProperties: false,
  };
  const toolsOf = async (card: AgentCard) =>
    Promise.all(
      skillTools('my agent', card, new Set()).map(async ({ inputSchema, ...tool }) => ({
        ...tool,
        schema: await asSchema(inputSchema).jsonSchema,
      })),
    );

  it('are the agent itself where it has no skills', async () => {
    for (const skills of [undefined, []])
      expect(await toolsOf(cardWith(skills))).toStrictEqual([
        { name: 'my_agent', description: 'The agent "Agent"\nHelps', schema: messageSchema },
      ]);
  });

  it('are its skills, with their schemas', async () => {
    const skills = [skill('s', { examples: ['One', 'Two'] }), skill('other', { description: '' })];
    expect(await toolsOf(cardWith(skills, typed({ s: { input: schema } })))).toStrictEqual([
      {
        name: 'my_agent_s',
        description: 'Name s (by the agent "Agent")\nAbout s\nExample: One\nExample: Two',
        schema,
        skillId: 's',
      },
      { name: 'my_agent_other', description: 'Name other (by the agent "Agent")', schema: messageSchema },
    ]);
  });

  it.each<[string, readonly object[] | undefined]>([
    ['no capabilities', undefined],
    ['no extensions', []],
    ['no parameters', [{ uri: TYPED_SKILLS }]],
    ['other skills', typed({ other: { input: schema } })],
    ['no schema', typed({ s: undefined })],
    ['a list as schema', typed({ s: { input: [] } })],
    ['null as schema', typed({ s: { input: null } })],
    ['a text as schema', typed({ s: { input: 'x' } })],
  ])('take a message where the card has %s', async (_what, extensions) => {
    const [tool] = await toolsOf(cardWith([skill('s')], extensions));
    expect([tool!.schema, tool!.skillId]).toEqual([messageSchema, undefined]);
  });

  it('take a message for a skill with the name of what every object has', async () => {
    const [tool] = await toolsOf(cardWith([skill('toString')], typed({})));
    expect(tool!.skillId).toBeUndefined();
  });

  it('say at most 2,000 characters', async () => {
    const [tool] = await toolsOf(cardWith([skill('s', { description: 'x'.repeat(3_000) })]));
    expect(tool!.description).toHaveLength(2_000);
  });

  it('have names that models take, each of its own', () => {
    const taken = new Set(['a']);
    expect(
      ['a', 'a', 'a b-c_9', '', 'é', 'x'.repeat(70), 'x'.repeat(60)].map((text) => toolName(text, taken)),
    ).toEqual(['a_2', 'a_3', 'a_b-c_9', '_', '__2', 'x'.repeat(60), `${'x'.repeat(60)}_2`]);
    expect(taken.has('a_3')).toBe(true);
  });
});
