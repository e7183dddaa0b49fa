import { FORM_TYPE } from '@batonjs/protocol/forms';
import { textOf } from '@batonjs/protocol/parts';
import type { TaskStore } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import {
  type Agent,
  completed,
  data,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
} from '../../src/index.ts';
import { askingAgent, look, submit } from './asking-agent.ts';
import { begin, hour, post, serveCallbacks } from './serve-callbacks.ts';

/** A task that asks, and its links. */
async function asking(
  agentOptions: Parameters<typeof askingAgent>[0] = {},
  options: Parameters<typeof serveCallbacks>[1] = {},
) {
  const { agent, seen, links } = askingAgent(agentOptions);
  const served = serveCallbacks(agent, options);
  const id = await begin(served.server);
  const urls = await links;
  await served.clock.advance(0);
  const [url = ''] = urls;
  const stateOf = async () => (await rpc(served.server, 'GetTask', { id })).status.state;
  return { ...served, agent, seen, id, url, urls, stateOf };
}

/** The titles of pages. */
const title = ({ text }: { readonly text: string }) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1];

describe('a link to a question', () => {
  it('shows the question as text on a page on which nothing runs, as often as it is opened', async () => {
    const { server, url, stateOf } = await asking();
    for (const method of ['GET', 'GET', 'HEAD']) {
      const page = await look(server, url, method);
      expect(page.status).toBe(200);
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none';.*form-action 'self'; frame-ancestors 'none'$/,
        ),
      });
      if (method === 'HEAD') expect(page.text).toBe('');
      else expect(page.text).toContain('Pay &lt;b&gt;&quot;Tom &amp; Jerry&quot;&lt;/b&gt;?');
      expect(page.text).not.toMatch(/<script|<b>|javascript:/);
    }
    expect(await stateOf()).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('tells a program that is no browser what is asked, and where to answer', async () => {
    const { server, url } = await asking();
    const told = await server.fetch(new Request(url, { headers: { accept: '*/*' } }));
    expect([told.status, told.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await told.text()).toBe(
      'Test asks Ana: Pay <b>"Tom & Jerry"</b>?\nOpen this address in a browser to answer.\n',
    );
    await submit(server, url, await look(server, url), { text: 'Yes' });
    const later = await server.fetch(new Request(url));
    expect([later.status, await later.text()]).toEqual([
      200,
      'Thank you\nYour answer has arrived. You can close this page.\n',
    ]);
    expect((await server.fetch(new Request(`${url}x`))).status).toBe(405);
    expect((await server.fetch(new Request(url, { method: 'PUT', body: 'x' }))).status).toBe(405);
  });

  it.each([
    ['texts', { title: '<i>t</i>', description: '<i>d</i>', enum: ['<i>"o"</i>'] }],
    ['no texts', { title: { toString: 'x' }, description: { toString: 1 }, enum: [{ '<i>': '"' }] }],
  ])('shows the form of another agent as text, whose members are %s', async (_, member) => {
    const form = { formId: 'f', title: 'T', schema: { type: 'object', properties: { '<i>m</i>': member } } };
    const message = { ...reply('Pay?', data(form, { mediaType: FORM_TYPE })), messageId: '<i>"id"</i>' };
    const asked = Promise.withResolvers<string>();
    const { server, clock } = serveCallbacks(async function* ({ callback, caller }) {
      if (caller.answeredBy) return yield completed();
      asked.resolve((await callback({ answeredBy: 'Ana', expiresMs: hour })).url);
      yield inputRequired(message);
    });
    const id = await begin(server);
    const url = await asked.promise;
    await clock.advance(0);
    const page = await look(server, url);
    expect([page.status, page.text]).toEqual([200, expect.not.stringContaining('<i>')]);
    expect(page.text).toContain('name="question" value="&lt;i&gt;&quot;id&quot;&lt;/i&gt;"');
    const body = new URLSearchParams({ question: message.messageId, 'field-0': '0' }).toString();
    const headers = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
    expect((await server.fetch(new Request(url, { method: 'POST', headers, body }))).status).toBe(200);
    await until(server, id, 'COMPLETED');
  });

  it('takes an answer in words, once, as a message of the task that says who answered', async () => {
    const { server, url, seen, store, clock, id, stateOf } = await asking({
      answeredBy: ['Ana <ana@a.example>'],
    });
    const page = await look(server, url);
    expect(page.text).toContain('Ana &lt;ana@a.example&gt;');
    const empty = await submit(server, url, page, { text: ' \r\n ' });
    expect([empty.status, empty.text]).toEqual([422, expect.stringContaining('Write an answer first')]);
    const answered = await submit(server, url, page, { text: 'Yes,\r\npay <i>it</i>' });
    expect([answered.status, title(answered)]).toEqual([200, 'Thank you']);
    await clock.advance(0);
    expect(seen.at(-1)).toMatchObject({
      text: 'Yes,\npay <i>it</i>',
      caller: { answeredBy: 'Ana <ana@a.example>' },
    });
    expect(await stateOf()).toBe('TASK_STATE_COMPLETED');
    expect(title(await look(server, url))).toBe('Thank you');
    expect(title(await submit(server, url, page, { text: 'Yes,\r\npay <i>it</i>' }))).toBe('Thank you');
    expect(title(await submit(server, url, page, { text: 'No' }))).toBe('Already answered');
    expect(title(await submit(server, url, page, { text: '' }))).toBe('Thank you');
    const facts = await store.readFacts(scope, id, 0, 100);
    const messages = facts.flatMap(({ fact }) => (fact.type === 'message-received' ? [fact] : []));
    expect(messages.map(({ caller }) => caller)).toEqual([undefined, { answeredBy: 'Ana <ana@a.example>' }]);
  });

  it('shows the form of the question, and takes what fits it as its answer', async () => {
    const { server, url, seen, clock } = await asking({ form: true });
    const page = await look(server, url);
    expect(title(page)).toBe('Payment');
    for (const shown of [
      '<legend>Approve &quot;it&quot;?</legend>',
      'value="1"',
      '&lt;i&gt;whole&lt;/i&gt;',
      'name="field-1" required type="text" inputmode="decimal" value="5"',
      'value="1" checked> USD',
      '&lt;x&gt; <span class="optional">',
    ])
      expect(page.text).toContain(shown);
    const refused = await submit(server, url, page, { 'field-1': '<none>', 'field-5': '{' });
    expect(refused.status).toBe(422);
    expect(refused.text.match(/class="error" id="[^"]*">[^<]*/g)).toEqual([
      'class="error" id="field-0-error">Choose one',
      'class="error" id="field-1-error">This is no number',
      'class="error" id="field-5-error">This is no JSON',
    ]);
    expect(refused.text).toContain('value="&lt;none&gt;"');
    expect(refused.text).toMatch(
      /<title>3 things need a look · .* role="alert">3 things need a look<.*<fieldset/s,
    );
    // The first fault has the focus, and no other.
    expect(refused.text.match(/<\w+[^>]* autofocus/g)).toEqual([
      '<fieldset aria-invalid="true" tabindex="-1" autofocus',
    ]);
    const low = await submit(server, url, page, { 'field-0': '0', 'field-1': '0' });
    expect([low.status, low.text]).toEqual([422, expect.stringContaining('id="field-1-error">At least 1<')]);
    expect(low.text).toMatch(/One thing needs a look.*<input id="field-1"[^>]* autofocus/s);
    const other = await submit(server, url, page, { 'field-0': '7', 'field-1': '1' });
    expect(other.text).toContain('id="field-0-error">Choose one<');
    const fields = { 'field-0': '0', 'field-1': '7', 'field-2': '0', 'field-4': 'a', 'field-5': '{"b":1}' };
    expect(title(await submit(server, url, page, fields))).toBe('Thank you');
    await clock.advance(0);
    expect(seen.at(-1)?.values).toMatchObject({
      formId: 'f-1',
      values: { approved: true, cents: 7, currency: 'EUR', '<x>': 'a', more: { b: 1 } },
    });
  });

  it('answers in the scope of the caller, with the extensions of its message and none of its claims', async () => {
    const extension = 'https://a.example/extension';
    const { agent, seen, links } = askingAgent();
    const { server, clock } = serveCallbacks(agent, {
      authenticate: async () => ({ scope: 'tenant-1', claims: { role: 'admin' } }),
      card: {
        name: 'Test',
        description: 'For tests',
        capabilities: { extensions: [{ uri: extension }] },
      },
    });
    await rpc(server, 'SendMessage', { message: say('go') }, {
      headers: { 'a2a-extensions': extension },
    } as never);
    const [url = ''] = await links;
    await submit(server, url, await look(server, url), { text: 'Yes' });
    await clock.advance(0);
    expect(seen.map(({ caller }) => caller)).toEqual([
      { scope: 'tenant-1', role: 'admin' },
      { scope: 'tenant-1', answeredBy: 'Ana' },
    ]);
    expect(seen[1]?.extensions).toEqual(seen[0]?.extensions);
  });
});

describe('a question that is reserved', () => {
  const start = async (onlyBy: 'link' | string[]) => {
    const [urls, seen]: [string[], object[]] = [[], []];
    const agent: Agent = async function* ({ values, caller, callback }) {
      seen.push({ values, caller });
      if (caller.answeredBy) return yield completed();
      for (const answeredBy of ['Ana', 'Bo'])
        urls.push((await callback({ answeredBy, expiresMs: hour })).url);
      yield { ...inputRequired('Pay?'), onlyBy };
    };
    const served = serveCallbacks(agent, { authenticate });
    const { task } = await rpc(served.server, 'SendMessage', {
      message: say([{ data: { approved: true } }]),
    });
    return { ...served, seen, id: task.id, urls };
  };
  /** A caller that claims to be the person. */
  const authenticate = async () => ({ scope: 'books', claims: { answeredBy: 'Ana', role: 'clerk' } });

  it('is answered by links alone, and what the client sent is not mixed with the answer', async () => {
    const { server, seen, id, urls, clock } = await start('link');
    const message = say([{ data: { approved: true } }], { taskId: id });
    await expect(rpc(server, 'SendMessage', { message })).rejects.toThrow(
      'Only a person with an answer link',
    );
    await submit(server, urls[1]!, await look(server, urls[1]!), { text: 'No' });
    await clock.advance(0);
    expect(seen).toEqual([
      { values: { approved: true }, caller: { scope: 'books', role: 'clerk' } },
      { values: {}, caller: { scope: 'books', answeredBy: 'Bo' } },
    ]);
  });

  it('is answered by the people that are named, and by no other link', async () => {
    const { server, id, urls } = await start(['Bo']);
    const ana = await look(server, urls[0]!);
    expect([ana.status, title(ana)]).toEqual([403, 'For other people']);
    const forged = await submit(server, urls[0]!, await look(server, urls[1]!), { text: 'Yes' });
    expect([forged.status, title(forged)]).toEqual([403, 'For other people']);
    expect(title(await submit(server, urls[1]!, await look(server, urls[1]!), { text: 'No' }))).toBe(
      'Thank you',
    );
    await expect(server.answerLink(id, { answeredBy: 'Bo', expiresMs: hour })).rejects.toThrow();
  });

  it.each([
    [{ ...completed(), onlyBy: 'link' }, 'is of a question'],
    [{ ...inputRequired('Pay?'), onlyBy: [] }, "is 'link', or the names"],
    [{ ...inputRequired('Pay?'), onlyBy: 'Ana' }, "is 'link', or the names"],
  ])('is one that can be answered', async (update, problem) => {
    const { server, logged } = serveCallbacks(async function* () {
      yield update as TaskUpdate;
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(String(logged.map((line) => JSON.stringify(line, detailed)))).toContain(problem);
  });
});

/** Errors as JSON. */
const detailed = (_: string, value: unknown) => (value instanceof Error ? value.message : value);

describe('one answer is taken', () => {
  it('of two people who were asked', async () => {
    const { server, urls, seen, clock } = await asking({ answeredBy: ['Ana', 'Bo'] });
    const [ana = '', bo = ''] = urls;
    const pages = [await look(server, ana), await look(server, bo)] as const;
    expect(title(await submit(server, bo, pages[1], { text: 'No' }))).toBe('Thank you');
    const late = await submit(server, ana, pages[0], { text: 'Yes' });
    expect([late.status, title(late)]).toEqual([409, 'Already answered']);
    expect(title(await look(server, ana))).toBe('Already answered');
    await clock.advance(0);
    expect(seen.slice(1)).toMatchObject([{ text: 'No', caller: { answeredBy: 'Bo' } }]);
  });

  it.each([
    ['one link', ['Ana'], ['Ana', 'Ana'], ['Yes', 'No']],
    ['two links', ['Ana', 'Bo'], ['Ana', 'Bo'], ['Yes', 'Yes']],
  ])('of two that two servers get at once by %s', async (_, people, who, texts) => {
    const { agent, server, store, clock, urls, id } = await asking({ answeredBy: people });
    const other = serveCallbacks(agent, { store, clock }).server;
    const links = who.map((name) => urls[people.indexOf(name)] ?? '');
    const [one = '', two = ''] = links;
    const [here, there] = [await look(server, one), await look(other, two)];
    const [first = '', second = ''] = texts;
    const answered = await Promise.all([
      submit(server, one, here, { text: first }),
      submit(other, two, there, { text: second }),
    ]);
    expect(answered.map(title).sort()).toEqual(['Already answered', 'Thank you']);
    const facts = await store.readFacts(scope, id, 0, 100);
    expect(facts.filter(({ fact }) => fact.type === 'message-received')).toHaveLength(2);
  });

  it('of the client and a link', async () => {
    const { server, url, id } = await asking();
    const page = await look(server, url);
    await rpc(server, 'SendMessage', { message: { ...say('Yes'), messageId: 'm-2', taskId: id } });
    const late = await submit(server, url, page, { text: 'No' });
    expect([late.status, title(late)]).toEqual([409, 'Already answered']);
  });

  it('of a person, also where the client writes before a process has room for the turn', async () => {
    const { agent, server, store, clock, urls, id } = await asking({ answeredBy: ['Ana', 'Bo'] });
    const seen: Turn[] = [];
    const later: Agent = async function* (turn) {
      seen.push(turn);
      yield completed(`${turn.text} by ${turn.caller.answeredBy}`);
    };
    await server.close({ graceMs: 0 });
    const away = serveCallbacks(agent, { store, clock, run: 'workers' }).server;
    const [ana = '', bo = ''] = urls;
    const pages = [await look(away, ana), await look(away, bo)] as const;
    expect(title(await submit(away, ana, pages[0], { text: 'No' }))).toBe('Thank you');
    const message = say([{ text: 'Yes' }, { data: { approved: true } }], { taskId: id });
    await rpc(away, 'SendMessage', { message, configuration: { returnImmediately: true } });
    expect(title(await submit(away, bo, pages[1], { text: 'Yes' }))).toBe('Already answered');
    const here = serveCallbacks(later, { store, clock }).server;
    await clock.advance(1_000);
    expect((await rpc(here, 'GetTask', { id })).status.message.parts).toEqual([{ text: 'No by Ana' }]);
    const [turn] = seen;
    expect([turn?.message.parts, turn?.values, turn?.messages.at(-1)?.messageId]).toEqual([
      [{ text: 'No' }],
      {},
      message.messageId,
    ]);
  });

  it('to the question that the page showed, where the agent asks another one at the same moment', async () => {
    const keys: string[] = [];
    const asked = Promise.withResolvers<string>();
    let turns = 0;
    const agent: Agent = async function* ({ callback, caller, text, wakeKey }) {
      if (caller.answeredBy) return yield completed(text);
      turns += 1;
      keys.push(wakeKey);
      if (turns === 1) asked.resolve((await callback({ answeredBy: 'Ana', expiresMs: hour })).url);
      yield inputRequired(`Question ${turns}`);
    };
    const { server, store, clock } = serveCallbacks(agent);
    const id = await begin(server);
    const url = await asked.promise;
    await clock.advance(0);
    const page = await look(server, url);
    let isBetween = true;
    const slow = new Proxy(store, {
      get(target, name) {
        const member = Reflect.get(target, name);
        if (name !== 'commit') return typeof member === 'function' ? member.bind(target) : member;
        return async (...args: Parameters<TaskStore['commit']>) => {
          if (isBetween && JSON.stringify(args).includes('"text":"Yes"')) {
            isBetween = false;
            await server.wake(keys[0]!);
            await eventually(async () => {
              const { status } = await rpc(server, 'GetTask', { id });
              expect(textOf(status.message)).toBe('Question 2');
            });
          }
          return target.commit(...args);
        };
      },
    });
    const other = serveCallbacks(agent, { store: slow, clock, run: 'workers' }).server;
    const late = await submit(other, url, page, { text: 'Yes' });
    expect([late.status, late.text]).toEqual([409, expect.stringContaining('The question has changed')]);
    expect(isBetween).toBe(false);
    expect((await rpc(server, 'GetTask', { id })).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(title(await submit(other, url, await look(other, url), { text: 'No' }))).toBe('Thank you');
  });

  it('twice if the page is sent again: the first answer to the browser may have been lost', async () => {
    const { server, url, store, id } = await asking();
    const page = await look(server, url);
    const both = await Promise.all([1, 2].map(() => submit(server, url, page, { text: 'Yes' })));
    expect(both.map(title)).toEqual(['Thank you', 'Thank you']);
    const facts = await store.readFacts(scope, id, 0, 100);
    expect(facts.filter(({ fact }) => fact.type === 'message-received')).toHaveLength(2);
  });
});

describe('a link takes no answer', () => {
  it('before the question is asked', async () => {
    const looked = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<string>();
    const { agent } = askingAgent({
      before: ([link = '']) => {
        opened.resolve(link);
        return looked.promise;
      },
    });
    const { server, clock } = serveCallbacks(agent);
    await begin(server);
    const url = await opened.promise;
    expect(title(await look(server, url))).toBe('Not yet');
    looked.resolve();
    await clock.advance(0);
    expect(title(await look(server, url))).toBe('A question');
  });

  it('after its time', async () => {
    const { server, url, clock, stateOf } = await asking({ expiresMs: 60_000 });
    const page = await look(server, url);
    await clock.advance(60_000);
    const late = await submit(server, url, page, { text: 'Yes' });
    expect([late.status, title(late)]).toEqual([410, 'Too late']);
    expect(await stateOf()).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('after its time by the facts, where a clock was set back', async () => {
    const { agent, server, store, clock, url } = await asking({ expiresMs: 60_000 });
    const page = await look(server, url);
    await clock.advance(60_000);
    await server.answerLink((await rpc(server, 'ListTasks', {})).tasks[0].id, {
      answeredBy: 'Bo',
      expiresMs: hour,
    });
    const now = () => clock.now() - hour;
    const behind = serveCallbacks(agent, { store, clock: { ...clock, now }, run: 'workers' }).server;
    const late = await submit(behind, url, page, { text: 'Yes' });
    expect([late.status, title(late)]).toEqual([410, 'Too late']);
  });

  it('after its task was canceled', async () => {
    const { server, url, id } = await asking();
    await rpc(server, 'CancelTask', { id });
    expect(title(await look(server, url))).toBe('No longer needed');
  });

  it('to another question than the one that the page showed', async () => {
    const { server, url, seen, clock } = await asking();
    const page = { text: '<input name="question" value="another">' };
    const refused = await submit(server, url, page, { text: 'Yes' });
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('The question has changed'),
    ]);
    await clock.advance(0);
    expect(seen).toHaveLength(1);
  });

  it('with another token, or as a value, and is not used up by it', async () => {
    const { server, url } = await asking();
    expect((await look(server, `${url}x`)).status).toBe(404);
    const token = url.split('/').at(-1) ?? '';
    const [of, task, id, , signature] = JSON.parse(Buffer.from(token, 'base64url').toString());
    const guessed = Buffer.from(JSON.stringify([of, task, id, 'x'.repeat(43), signature])).toString(
      'base64url',
    );
    expect((await look(server, url.replace(token, guessed))).status).toBe(404);
    expect((await submit(server, url.replace(token, guessed), { text: '' }, { text: 'Yes' })).status).toBe(
      404,
    );
    expect(await post(server, url, { a: 1 })).toMatchObject({ status: 415 });
    expect((await look(server, url)).status).toBe(200);
  });

  it('that is larger than `callbacks.bytes`', async () => {
    const { server, url } = await asking({}, { callbacks: { bytes: 200 } });
    const large = await submit(server, url, await look(server, url), { text: 'x'.repeat(300) });
    expect([large.status, title(large)]).toEqual([413, 'That did not work']);
    expect(large.headers.get('content-type')).toContain('text/html');
  });

  it('above the rate, or while the server closes', async () => {
    const { server, url } = await asking({}, { callbacks: { rate: { limit: 2, perMs: hour } } });
    const page = await look(server, url);
    expect((await look(server, url)).status).toBe(200);
    const refused = await submit(server, url, page, { text: 'Yes' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1800']);
    await server.close({ graceMs: 0 });
    expect((await look(server, url)).status).toBe(503);
  });
});

describe('`server.answerLink`', () => {
  it('makes a link to the question of a waiting task', async () => {
    const { server, id, seen, clock } = await asking({ answeredBy: [] });
    const { url, expiresAt } = await server.answerLink(id, { answeredBy: 'Bo', expiresMs: hour });
    expect(expiresAt.getTime()).toBe(clock.now() + hour);
    expect(title(await submit(server, url, await look(server, url), { text: 'Yes' }))).toBe('Thank you');
    await clock.advance(0);
    expect(seen.at(-1)).toMatchObject({ text: 'Yes', caller: { answeredBy: 'Bo' } });
    await expect(server.answerLink(id, { answeredBy: 'Bo', expiresMs: hour })).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('refuses what cannot work', async () => {
    const { server, id } = await asking();
    const link = (more: object) =>
      server.answerLink(id, { answeredBy: 'Bo', expiresMs: hour, ...more } as never);
    await expect(link({ caller: 'another' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(link({ answeredBy: '' })).rejects.toThrow(TypeError);
    await expect(link({ answeredBy: undefined })).rejects.toThrow('`answeredBy`');
    await expect(link({ expiresMs: 0 })).rejects.toThrow(RangeError);
    const { server: without, id: other } = await asking({ answeredBy: [] }, { callbacks: false });
    await expect(without.answerLink(other, { answeredBy: 'Bo', expiresMs: hour })).rejects.toThrow(
      '`callbacks`',
    );
  });
});
