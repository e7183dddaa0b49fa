import { type AgentClient, answer, textOf } from '@batonjs/client';
import {
  type Agent,
  artifact,
  completed,
  data,
  inputRequired as plainInputRequired,
  text,
} from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../../test/kit/until.ts';
import { look, submit } from '../../../server/test/callbacks/asking-agent.ts';
import { FORM_INPUT, FORM_TYPE, type Form, formOf } from '../../src/client.ts';
import { extend, formInput, inputRequired } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const Address = z.object({ street: z.string().min(1), zip: z.string().regex(/^\d{5}$/) });

/** Asks for an address and repeats the answer. */
const courier: Agent = async function* ({ text, values }) {
  const said = text.match(/^(.+), (\d{5})$/);
  if (!said && values.street === undefined)
    return yield inputRequired('Where to?', { form: Address, title: 'Address', initial: { zip: '00100' } });
  yield artifact('address', data(said ? { street: said[1], zip: said[2] } : values));
  yield completed();
};
const extended = extend({ card, agent: courier }, formInput);

describe.each(['JSONRPC', 'HTTP+JSON'])('a form over %s', (binding) => {
  let agent: AgentClient;
  beforeEach(async () => {
    agent = await serve(extended).client({ extensions: [FORM_INPUT], binding });
  });
  const ask = async () => (await agent.send('Send it')).task!;
  const address = { street: 'Mannerheimintie 1', zip: '00100' };

  it('is asked, beside the question as text [R-SEED-16]', async () => {
    const task = await ask();
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Where to?' }, { mediaType: FORM_TYPE }], extensions: [FORM_INPUT] },
    });
    expect(formOf(task)).toEqual({
      formId: expect.any(String),
      title: 'Address',
      schema: expect.objectContaining({ type: 'object', required: ['street', 'zip'] }),
      initial: { zip: '00100' },
    });
  });

  it('is answered, and the agent gets the values', async () => {
    const { task } = await agent.send(answer(await ask(), address));
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: address }] }],
    });
  });

  it('is asked again with the errors of each field, and then finished', async () => {
    const asked = await ask();
    const { task: again } = await agent.send(answer(asked, { street: '', zip: 'x', planet: 'Mars' }));
    expect(again).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    const form = formOf(again!)!;
    expect(form).toMatchObject({
      formId: formOf(asked)!.formId,
      initial: { street: '', zip: 'x', planet: 'Mars' },
    });
    expect(Object.keys(form.errors!).sort()).toEqual(['', 'street', 'zip']);
    expect(textOf(again!.status.message)).toMatch(/^Where to\?\n\n(street|zip): /);
    const { task: third } = await agent.send(answer(again!, { street: 'x' }));
    expect(textOf(third!.status.message).match(/Where to/g)).toHaveLength(1);
    const { task } = await agent.send(answer(third!, address));
    // The refused answer left no values behind.
    expect(task?.artifacts?.[0]?.parts).toEqual([{ data: address }]);
  });

  it.each<[string, object]>([
    ['another form', { formId: 'other', values: address }],
    ['no values', { formId: 'FORM' }],
    ['values that are none', { formId: 'FORM', values: 7 }],
    ['values that are a list', { formId: 'FORM', values: [address] }],
  ])('is asked again after an answer with %s [R-EXT-07]', async (_, given) => {
    const asked = await ask();
    const filled = JSON.parse(JSON.stringify(given).replace('FORM', formOf(asked)!.formId));
    const { task } = await agent.send({ data: filled, mediaType: FORM_TYPE }, { task: asked });
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(formOf(task!)?.errors).toBeDefined();
  });

  it('may be answered in text', async () => {
    const { task } = await agent.send('Esplanadi 2, 00130', { task: await ask() });
    expect(task?.artifacts?.[0]?.parts).toEqual([{ data: { street: 'Esplanadi 2', zip: '00130' } }]);
  });
});

describe('without the extension', () => {
  it('the question is text only, and text or plain data answers it [R-EXT-01]', async () => {
    const agent = await serve(extended).client();
    const { task: asked } = await agent.send('Send it');
    expect(asked?.status.message?.parts).toEqual([{ text: 'Where to?' }]);
    expect(asked?.status.message?.extensions).toBeUndefined();
    expect(formOf(asked!)).toBeUndefined();
    const { task } = await agent.send(answer(asked!, { street: 'x', zip: '00100' }));
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('an answer to a form that was not asked changes nothing', async () => {
    const agent = await serve(extended).client();
    const { task } = await agent.send({
      data: { formId: 'x', values: { street: 'y' } },
      mediaType: FORM_TYPE,
    });
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});

it('an agent that only talks goes on talking', async () => {
  const talker: Agent = ({ text }) => ({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] });
  const agent = await serve(extend({ card, agent: talker }, formInput)).client({ extensions: [FORM_INPUT] });
  expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
});

it('the message of a turn is the one that started it, also where later ones wait', async () => {
  const seen: string[] = [];
  const { agent } = extend(
    {
      card,
      async *agent({ message }) {
        seen.push(message.messageId);
        yield completed();
      },
    },
    formInput,
  );
  const of = { role: 'ROLE_USER' as const, parts: [{ text: 'Go' }] };
  const later = {
    value: [
      { messageId: 'first', ...of },
      { messageId: 'later', ...of },
    ],
  };
  const waiting: Agent = (turn) => agent(Object.create(turn, { messages: later }));
  await runTurn(waiting, { messageId: 'first', ...of });
  expect(seen).toEqual(['first']);
});

describe('a form that another agent passed on', () => {
  const evil = { type: 'string', pattern: '^(a+)+$' };
  const words = `${'a'.repeat(40)}!`;
  const metadata = { [FORM_INPUT]: { isOwn: true } };

  /** Asks with a form of another agent, which says that it is this agent's own. */
  const handsUp = (schema: Form['schema']) => {
    const agent: Agent = async function* ({ values }) {
      if (values.name !== undefined) return yield completed();
      const question = plainInputRequired([
        text('Who?'),
        data({ formId: 'f', schema }, { mediaType: FORM_TYPE }),
      ]);
      if ('status' in question) Object.assign(question.status.message!, { metadata });
      yield question;
    };
    return serve(extend({ card, agent }, formInput)).client({ extensions: [FORM_INPUT] });
  };

  it('has its values checked, and its regular expressions not run', async () => {
    const agent = await handsUp({ type: 'object', properties: { name: evil }, additionalProperties: false });
    const { task: asked } = await agent.send('Go');
    const { task: again } = await agent.send(answer(asked!, { other: 1 }));
    expect(formOf(again!)?.errors).toBeDefined();
    const { task } = await agent.send(answer(again!, { name: words }));
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is left to the agent that asked where it cannot be read', async () => {
    const agent = await handsUp({ $ref: '#' });
    const { task: asked } = await agent.send('Go');
    const { task } = await agent.send(answer(asked!, { name: words }));
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

it('the regular expressions of a form of the agent itself are applied in each round', async () => {
  const agent = await serve(extended).client({ extensions: [FORM_INPUT] });
  let { task } = await agent.send('Send it');
  for (const _ of ['first', 'second']) {
    ({ task } = await agent.send(answer(task!, { street: 'x', zip: 'no digits' })));
    expect(formOf(task!)?.errors).toHaveProperty('zip');
  }
});

it('a form is on the page of a link, also where the client gets the question as text', async () => {
  const { server, client } = serve({ ...extended, callbacks: true, publicUrl: 'http://localhost' });
  const agent = await client();
  const { task } = await agent.send({ data: { street: 'of the client' } });
  const asked = (await agent.send('Send it')).task!;
  expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(asked.status.message).toMatchObject({ parts: [{ text: 'Where to?' }] });
  expect(JSON.stringify(asked)).not.toContain('schema');
  const { url } = await server.answerLink(asked.id, { answeredBy: 'Ana', expiresMs: 60_000 });
  const page = await look(server, url);
  expect(page.text).toMatch(/<h1>Address<\/h1>.*value="00100"/s);
  const refused = await submit(server, url, page, { 'field-0': 'Mannerheimintie 1', 'field-1': '1' });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('id="field-1-error"')]);
  const fields = { 'field-0': 'Mannerheimintie 1', 'field-1': '00200' };
  expect((await submit(server, url, page, fields)).text).toContain('Thank you');
  const done = await until(server, asked.id, 'COMPLETED');
  expect(done.artifacts?.[0]?.parts).toEqual([{ data: { street: 'Mannerheimintie 1', zip: '00200' } }]);
  expect((await submit(server, url, page, fields)).text).toContain('Thank you');
  expect((await submit(server, url, page, { ...fields, 'field-1': '00300' })).text).toContain(
    'Already answered',
  );
});
