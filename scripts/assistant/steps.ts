import type { Step } from './play.ts';

const guessed = `import { type Agent, ask, artifact, completed } from '@batonjs/server';

const agent: Agent = async function* ({ text }) {
  const country = yield ask('To which country?');
  yield artifact('quote', \`\${text}, to \${country}\`);
  yield completed();
};
export default { agent, card: { name: 'Desks', description: 'Quotes desks' } };
`;

/** With `total` as a number or as a bigint. */
const agent = (
  total: string,
) => `import { type Agent, artifact, completed, data, inputRequired } from '@batonjs/server';

const shipping: Readonly<Record<string, number>> = { France: 4_900, Japan: 19_900 };

export const agent: Agent = async function* ({ text, memory, step }) {
  const desks = memory.get<number>('desks');
  if (desks === undefined) {
    const count = Number.parseInt(text, 10);
    if (!(count > 0)) return yield inputRequired('How many desks?');
    return yield { ...inputRequired('To which country?'), memory: { desks: count } };
  }
  const perDesk = shipping[text];
  if (perDesk === undefined) return yield inputRequired(\`To one of these: \${Object.keys(shipping).join(', ')}\`);
  const cents = await step('price', () => ${total});
  yield artifact('quote', data({ desks, country: text, cents }));
  yield completed();
};
export default { agent, card: { name: 'Desks', description: 'Quotes desks' } };
`;

const tests = `import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { answer, connect, dataOf, textOf } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { memoryStore } from '@batonjs/store-memory';
import { agent } from './agent.ts';

test('a price is calculated once', async () => {
  const { steps } = await runTurn(agent, 'France', { memory: { desks: 3 }, attempt: 2, steps: { price: 5 } });
  equal(steps.price, 5);
});

test('a quote takes two questions', async (context) => {
  const card = { name: 'Desks', description: 'Quotes desks' };
  const server = createAgentServer({ card, agent, store: memoryStore() });
  context.after(() => server.close());
  const client = await connect('http://localhost', { fetch: server.fetch });
  const { task: first } = await client.send('desks, please');
  equal(textOf(first?.status.message), 'How many desks?');
  const { task: second } = await client.send(answer(first!, '3 desks'));
  equal(textOf(second?.status.message), 'To which country?');
  const { task } = await client.send(answer(second!, 'Japan'));
  deepEqual(dataOf(task?.artifacts?.[0]), { desks: 3, country: 'Japan', cents: 3 * (12_000 + 19_900) });
});
`;

/** What an assistant did that was asked for an agent which quotes desks, asks where they go, and has a test. */
export const steps: readonly Step[] = [
  { why: 'Looks whether there is an agent', expects: /exports no agent/, call: ['agent', { lines: 5 }] },
  {
    why: 'Looks for what the file exports',
    expects: /^agents\/assistants\.md/,
    call: ['search_docs', { query: 'baton dev file default export agent card', limit: 3 }],
  },
  {
    why: 'Reads it',
    expects: /export default \{ agent, card/,
    call: ['read_docs', { page: 'agents/assistants.md' }],
    reads: /export default/,
  },
  { why: 'Writes a first agent, and guesses a name', write: ['agent.ts', guessed] },
  {
    why: 'Looks whether it runs: it does not',
    expects: /does not provide an export named 'ask'/,
    call: ['agent', { lines: 5 }],
  },
  {
    why: 'Looks for how an agent asks, instead of guessing',
    expects: /^agents\/questions\.md/,
    call: ['search_docs', { query: 'inputRequired question, answer in words', limit: 3 }],
  },
  {
    why: 'Reads that the answer starts the next turn, and where to keep what is known',
    expects: /memory: \{ room: text \}/,
    call: ['read_docs', { page: 'agents/questions.md' }],
    reads: /memory: \{ room: text \}/,
  },
  { why: 'Writes the agent again', write: ['agent.ts', agent('BigInt(desks * (12_000 + perDesk))')] },
  { why: 'Looks whether it runs: it does', expects: /runs at/, call: ['agent', { lines: 0 }] },
  {
    why: 'Tries it',
    expects: /INPUT_REQUIRED\nIt says: To which country/,
    call: ['send', { message: '3 desks' }],
  },
  {
    why: 'Answers: the task fails',
    expects: /FAILED/,
    call: ['answer', { taskId: '$task', answer: 'France' }],
  },
  {
    why: 'Looks what happened inside',
    expects: /turn-failed .*step .*price.* is not JSON/,
    call: ['timeline', { taskId: '$task', after: 4 }],
  },
  {
    why: 'Looks for what a step may give',
    expects: /^agents\/steps\.md/,
    call: ['search_docs', { query: 'step result JSON bigint', limit: 2 }],
  },
  { why: 'Mends it', write: ['agent.ts', agent('desks * (12_000 + perDesk)')] },
  { why: 'Looks whether it runs', expects: /runs at/, call: ['agent', { lines: 0 }] },
  {
    why: 'Tries the same answer again, with a fork from after the answer',
    expects: /COMPLETED[\s\S]*"cents":50700/,
    call: ['fork', { taskId: '$task', from: '7' }],
  },
  {
    why: 'Looks at all tasks',
    expects: /^2 of 2 tasks\n.*COMPLETED[\s\S]*FAILED/,
    call: ['list_tasks', { limit: 5 }],
  },
  {
    why: 'Looks for how to test',
    expects: /^agents\/testing\.md/,
    call: ['search_docs', { query: 'test an agent without network, runTurn', limit: 3 }],
  },
  {
    why: 'Reads it',
    expects: /fetch: server\.fetch/,
    call: ['read_docs', { page: 'agents/testing.md' }],
    reads: /fetch: server\.fetch/,
  },
  { why: 'Writes a test', write: ['agent.test.ts', tests] },
  { why: 'Runs it', expects: /# pass 2\n# fail 0/, test: 'agent.test.ts' },
];
