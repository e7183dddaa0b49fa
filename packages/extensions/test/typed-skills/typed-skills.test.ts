import { type AgentClient, answer, dataOf, textOf } from '@batonjs/client';
import { artifact, completed, data, inputRequired } from '@batonjs/server';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callSkill, errorOf, FORM_INPUT, formOf, SkillError, TYPED_SKILLS } from '../../src/client.ts';
import { extend, formInput, type InvalidInput, skill, typedSkills } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const add = (invalidInput?: InvalidInput) =>
  skill({
    id: 'add',
    name: 'Add',
    description: 'Adds two numbers',
    input: z.object({ a: z.number(), b: z.number().default(1) }),
    output: z.object({ sum: z.number() }),
    invalidInput,
    async *run({ input: { a, b } }) {
      yield artifact('result', data({ sum: a === 13 ? 'unlucky' : a + b }));
      yield completed();
    },
  });
const greet = skill({
  id: 'greet',
  name: 'Greet',
  description: 'Greets by name',
  input: z.object({ name: z.string(), twice: z.boolean().optional() }),
  async *run({ input: { name, twice }, text }) {
    if (text === 'wait') return yield inputRequired('Ready?');
    yield artifact('result', data({ said: `Hello ${name}${twice ? ', hello' : ''}` }));
    yield completed();
  },
});
const serveSkills = (invalidInput?: InvalidInput) =>
  serve(extend(typedSkills(card, add(invalidInput), greet), formInput));
/** A schema of which each definition refers to the next one twice. */
const doubling = (levels: number) => {
  const to = (level: number) => ({ $ref: `#/$defs/d${level}` });
  const level = (_: unknown, at: number) => [`d${at}`, { anyOf: [to(at + 1), to(at + 1)] }];
  const $defs = Object.fromEntries([...Array.from({ length: levels }, level), [`d${levels}`, {}]]);
  return { ...to(0), $defs };
};
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the card', () => {
  it('contains the input and output of each skill as JSON Schema [R-EXT-08]', () => {
    const { server } = serveSkills();
    expect(server.card.skills.map(({ id }) => id)).toEqual(['add', 'greet']);
    const extension = server.card.capabilities.extensions?.find(({ uri }) => uri === TYPED_SKILLS);
    expect(extension?.params).toMatchObject({
      skills: {
        add: {
          input: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
          output: { properties: { sum: { type: 'number' } } },
        },
        greet: { input: { required: ['name'] } },
      },
    });
  });
});

describe('a skill', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])(
    'is called with checked input and returns checked output, over %s',
    async (binding) => {
      const agent = await serveSkills().client({ binding });
      const { output, task } = await callSkill(agent, 'add', { a: 2 });
      expect(output).toEqual({ sum: 3 });
      expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect((await callSkill(agent, 'greet', { name: 'Ada', twice: true })).output).toEqual({
        said: 'Hello Ada, hello',
      });
    },
  );

  it('is found by what fits where the client names none', async () => {
    const agent = await serveSkills().client();
    expect(dataOf((await agent.send({ data: { name: 'Ada' } })).task?.artifacts?.[0])).toEqual({
      said: 'Hello Ada',
    });
    expect(dataOf((await agent.send({ data: { a: 1, b: 1 } })).task?.artifacts?.[0])).toEqual({ sum: 2 });
  });

  it('that asked is the one that gets the answer', async () => {
    const agent = await serveSkills().client();
    const hint = { extensions: [TYPED_SKILLS], metadata: { [TYPED_SKILLS]: { skillId: 'greet' } } };
    const { task: asking } = await agent.send([{ data: { name: 'Ada', a: 1 } }, { text: 'wait' }], hint);
    expect(textOf(asking?.status.message)).toBe('Ready?');
    const { task } = await agent.send('yes', { task: asking });
    expect(dataOf(task?.artifacts?.[0])).toEqual({ said: 'Hello Ada' });
  });
});

describe('input that does not fit', () => {
  it.each([
    [undefined, 'REJECTED'],
    ['reject', 'REJECTED'],
    ['fail', 'FAILED'],
  ] as const)('with invalidInput %s ends the task as %s', async (invalidInput, state) => {
    const agent = await serveSkills(invalidInput).client();
    const { task } = await agent.send({ data: { a: 'two' } });
    expect(task?.status.state).toBe(`TASK_STATE_${state}`);
    expect(errorOf(task!)).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/a: .*number/),
      details: [{ path: 'a', message: expect.any(String) }],
    });
  });

  it('with invalidInput ask is asked for, with a form that contains the known values', async () => {
    const agent = await serveSkills('ask').client({ extensions: [FORM_INPUT] });
    const { task: asking } = await agent.send({ data: { b: 40 } });
    expect(formOf(asking!)).toMatchObject({ initial: { b: 40 }, schema: { required: ['a'] } });
    const { task } = await agent.send(answer(asking!, { a: 2, b: 40 }));
    expect(dataOf(task?.artifacts?.[0])).toEqual({ sum: 42 });
  });

  it('with invalidInput ask is asked for in text where forms are not known', async () => {
    const agent = await serveSkills('ask').client();
    const { task: asking } = await agent.send('What is two and two?');
    expect(asking?.status.message?.parts).toEqual([
      { text: expect.stringMatching(/^The input does not fit:\na: /) },
    ]);
    const { task } = await agent.send(answer(asking!, { a: 2, b: 2 }));
    expect(dataOf(task?.artifacts?.[0])).toEqual({ sum: 4 });
  });
});

describe('hints are not trusted [R-EXT-07]', () => {
  it.each([
    ['nobody', 'UNKNOWN_SKILL'],
    ['__proto__', 'UNKNOWN_SKILL'],
    [7, 'UNKNOWN_SKILL'],
    [{ id: 'add' }, 'UNKNOWN_SKILL'],
  ])('skillId %j', async (skillId, code) => {
    const agent = await serveSkills().client();
    const hint = { extensions: [TYPED_SKILLS], metadata: { [TYPED_SKILLS]: { skillId } } };
    const { task } = await agent.send({ data: { a: 1 } }, hint);
    expect(task?.status.state).toBe('TASK_STATE_REJECTED');
    expect(errorOf(task!)).toMatchObject({ code });
  });

  it.each([7, null, [], {}])('metadata %j', async (value) => {
    const agent = await serveSkills().client();
    const hint = { extensions: [TYPED_SKILLS], metadata: { [TYPED_SKILLS]: value } };
    expect((await agent.send({ data: { a: 1 } }, hint)).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('nor read where the extension is not active [R-EXT-01]', async () => {
    const agent = await serveSkills().client();
    const { task } = await agent.send(
      { data: { a: 1 } },
      { metadata: { [TYPED_SKILLS]: { skillId: 'nobody' } } },
    );
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('output that does not fit', () => {
  it('is never stored: the task fails, and the server says why to its log', async () => {
    const { client, errors } = serveSkills();
    const { task } = await (await client()).send({ data: { a: 13 } });
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(task?.artifacts ?? []).toEqual([]);
    expect(errorOf(task!)).toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    expect(errors).toHaveLength(1);
  });
});

describe('callSkill', () => {
  let agent: AgentClient;
  let calls = 0;
  beforeEach(async () => {
    calls = 0;
    const inner = await serveSkills().client();
    agent = {
      ...inner,
      card: inner.card,
      send: (...args) => inner.send(...args).finally(() => calls++),
    } as AgentClient;
  });
  const withSkills = (skills: unknown): AgentClient => ({
    ...agent,
    card: {
      ...agent.card,
      capabilities: { extensions: [{ uri: TYPED_SKILLS, params: { skills } as never }] },
    },
  });

  it.each([
    ['add', { a: 'two' }, 'INVALID_INPUT'],
    ['add', [], 'INVALID_INPUT'],
    ['nobody', { a: 1 }, 'UNKNOWN_SKILL'],
    ['toString', { a: 1 }, 'UNKNOWN_SKILL'],
  ])('does not send %s an input that does not fit: %j', async (id, input, code) => {
    expect(await failureOf(callSkill(agent, id, input))).toMatchObject({ name: 'SkillError', code });
    expect(calls).toBe(0);
  });

  it('refuses output that does not fit the schema in the card', async () => {
    const { input } = (
      agent.card.capabilities.extensions![0]!.params as { skills: { add: { input: unknown } } }
    ).skills.add;
    const liar = withSkills({
      add: { input, output: { type: 'object', properties: { sum: { type: 'string' } }, required: ['sum'] } },
    });
    const error = await failureOf(callSkill(liar, 'add', { a: 1 }));
    expect(error).toBeInstanceOf(SkillError);
    expect(error).toMatchObject({ code: 'INVALID_OUTPUT', issues: [{ path: 'sum' }] });
  });

  it.each<[string, unknown]>([
    ['no schema', {}],
    ['a schema that is not an object', { input: 7 }],
    ['an unknown type', { input: { type: 'colour' } }],
    ['a broken reference', { input: { $ref: '#/nowhere' } }],
    ['references that double at each level', { input: doubling(60) }],
    ['a schema without an end', { input: JSON.parse(`${'{"not":'.repeat(2_000)}{}${'}'.repeat(2_000)}`) }],
  ])('says so when a card has %s', async (_, add) => {
    expect(await failureOf(callSkill(withSkills({ add }), 'add', { a: 1 }))).toMatchObject({
      code: 'UNREADABLE_SCHEMA',
    });
    expect(calls).toBe(0);
  });

  it('does not run regular expressions of the card', async () => {
    const input = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const liar = withSkills({ greet: { input } });
    const { task } = await callSkill(liar, 'greet', { a: `${'a'.repeat(40)}!`, name: 'Ada' });
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('a skill error', () => {
  it('is recognised with and without its code, also that of another copy of the package', async () => {
    const agent = await serveSkills().client();
    const error = await failureOf(callSkill(agent, 'nothing', {}));
    const copy = { name: 'SkillError', code: 'UNKNOWN_SKILL' };
    for (const value of [error, copy]) {
      expect(SkillError.is(value)).toBe(true);
      expect(SkillError.is(value, 'UNKNOWN_SKILL')).toBe(true);
      expect(SkillError.is(value, 'INVALID_INPUT')).toBe(false);
    }
    const others = [undefined, null, 'UNKNOWN_SKILL', new TypeError('UNKNOWN_SKILL')];
    expect(others.filter((value) => SkillError.is(value))).toEqual([]);
  });
});
