import { TYPED_SKILLS } from '@batonjs/extensions/client';
import type { AgentCard } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { toolsOf } from '../../src/translation/tool-list.ts';

const skill = (id: string) => ({ id, name: `Name of ${id}`, description: `About ${id}`, tags: [] });

const cardWith = (ids: readonly string[], extensions?: readonly object[]) =>
  ({
    name: 'My agent',
    description: 'Helps',
    skills: ids.map(skill),
    ...(extensions && { capabilities: { extensions } }),
  }) as unknown as AgentCard;

const typed = (skills: unknown) => [
  { uri: 'https://other.example' },
  { uri: TYPED_SKILLS, params: { skills } },
];

const messageSchema = {
  type: 'object',
  properties: {
    message: { type: 'string', minLength: 1, description: 'What the agent should do, or be told' },
    data: { type: 'object', description: 'Structured input beside the message' },
  },
  required: ['message'],
  additionalProperties: false,
};

it.each<[readonly string[], readonly string[]]>([
  [
    ['a', 'b-c_D9'],
    ['a', 'b-c_D9'],
  ],
  [
    ['a.b', 'a b', 'a/b'],
    ['a_b', 'a_b_2', 'a_b_3'],
  ],
  [
    ['', 'é'],
    ['skill', '_'],
  ],
  [
    ['x'.repeat(60), 'x'.repeat(58)],
    ['x'.repeat(58), `${'x'.repeat(58)}_2`],
  ],
  [['continue_task'], ['continue_task_2']],
  [[], ['My_agent']],
])('skills %j are tools %j, after the one that continues a task', (ids, names) => {
  expect([...toolsOf(cardWith(ids)).keys()]).toEqual(['continue_task', ...names]);
});

it('the tool that continues a task says all that it takes', () => {
  expect(toolsOf(cardWith([])).get('continue_task')).toEqual({
    tool: {
      name: 'continue_task',
      title: 'Continue a task',
      description:
        'Goes on with a task that another tool started: waits for its result, answers its question with "answer" ' +
        '(text) or "values" (the fields of its form), or cancels it with "cancel".',
      inputSchema: {
        type: 'object',
        properties: {
          taskId: { type: 'string', minLength: 1 },
          answer: { type: 'string' },
          values: { type: 'object' },
          cancel: { type: 'boolean' },
        },
        required: ['taskId'],
        additionalProperties: false,
      },
    },
  });
});

it('an agent without skills is a tool with its name and description', () => {
  const tool = { name: 'My_agent', title: 'My agent', description: 'Helps', inputSchema: messageSchema };
  expect(toolsOf(cardWith([])).get('My_agent')).toStrictEqual({ tool });
  const { skills: _, ...card } = cardWith([]);
  expect(toolsOf(card as AgentCard).get('My_agent')).toStrictEqual({ tool });
});

it('a skill has the schemas that the card has for it', () => {
  const [input, output] = [{ type: 'object', properties: { a: {} } }, { type: 'object' }];
  const about = { title: 'Name of s.1', description: 'About s.1', name: 's_1' };
  const given = (skills: unknown) => toolsOf(cardWith(['s.1'], typed(skills))).get('s_1');
  expect(given({ 's.1': { input, output } })).toStrictEqual({
    tool: { ...about, inputSchema: input, outputSchema: output },
    skillId: 's.1',
  });
  expect(given({ 's.1': { input, output: { type: 'array' } } })).toStrictEqual({
    tool: { ...about, inputSchema: input },
    skillId: 's.1',
  });
});

it.each<[string, readonly object[] | undefined]>([
  ['no extension', []],
  ['no capabilities', undefined],
  [
    'only another extension',
    [{ uri: 'https://other.example', params: { skills: { s: { input: { type: 'object' } } } } }],
  ],
  ['no parameters', [{ uri: TYPED_SKILLS }]],
  ['no skills', typed(undefined)],
  ['another skill', typed({ other: { input: { type: 'object' } } })],
  ['no schema', typed({ s: null })],
  ['a schema of a list', typed({ s: { input: { type: 'array' } } })],
  ['a schema that is none', typed({ s: { input: null } })],
  ['a schema that is a text', typed({ s: { input: 'object' } })],
])('a skill takes a message where the card has %s', (_what, extensions) => {
  const { tool, skillId } = toolsOf(cardWith(['s'], extensions)).get('s')!;
  expect([tool.inputSchema, skillId]).toEqual([messageSchema, undefined]);
});
