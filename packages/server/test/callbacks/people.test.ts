import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORM_TYPE } from '@batonjs/protocol/forms';
import { folderFiles } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { type Agent, completed, data, inputRequired, reply } from '../../src/index.ts';
import { look, submit } from './asking-agent.ts';
import { hour, post, serveCallbacks } from './serve-callbacks.ts';

const schema = {
  type: 'object',
  required: ['approved', 'days'],
  properties: {
    approved: { type: 'boolean' },
    days: { type: 'integer', minimum: 1_000 },
    dueAt: { type: 'string', format: 'date-time' },
    names: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 },
    nickName: { type: 'string', maxLength: 1 },
  },
};
const form = { formId: 'f', schema, initial: { dueAt: '2026-07-01T16:30:00.000Z' } };

/** An agent that asks each of the named people with a link, and ends with what was answered. */
function askingPeople(question = reply('Pay?')) {
  const [seen, urls]: [object[], string[]] = [[], []];
  const agent: Agent = async function* ({ caller, callback, text, values }) {
    if (caller.answeredBy) {
      seen.push({ by: caller.answeredBy, text, values });
      return yield completed();
    }
    for (const answeredBy of text.split(' '))
      urls.push((await callback({ answeredBy, expiresMs: hour })).url);
    yield inputRequired({ ...question, messageId: crypto.randomUUID() });
  };
  return { agent, seen, urls };
}

it('a page is in the language and the zone of its options, faults and times included', async () => {
  const { agent, seen, urls } = askingPeople(reply('Zahlen?', data(form, { mediaType: FORM_TYPE })));
  const callbacks = {
    texts: { lang: 'de-DE', 'Send the answer': 'Abschicken' },
    timeZone: 'Europe/Berlin',
  };
  const { server, clock } = serveCallbacks(agent, { callbacks });
  await rpc(server, 'SendMessage', { message: say('Ana') });
  const [url = ''] = urls;
  const page = await look(server, url);
  for (const shown of [
    '<html lang="de-DE">',
    '<p class="from">Test fragt Ana</p>',
    '<button>Abschicken</button>',
    ' Ja</label>',
    '<label for="field-2">Due at <span class="optional">freiwillig</span> <span class="optional">Europe/Berlin</span>',
    'type="datetime-local" value="2026-07-01T18:30"',
    '<label for="field-4">Nick name ',
  ])
    expect(page.text).toContain(shown);
  expect(page.text).toMatch(/Sie kann einmal beantwortet werden, bis \d+\. \S+ \d{4} um [\d:]+ (MEZ|MESZ)\./);
  const faulty = { 'field-1': '5', 'field-2': 'soon', 'field-3': '0', 'field-4': 'ab' };
  const refused = await submit(server, url, page, faulty);
  expect(refused.text.match(/(?<=<p class="error"[^>]*>)[^<]*/g)).toEqual([
    '5 Angaben sind zu prüfen',
    'Wählen Sie eines',
    'Mindestens 1.000',
    'Das ist keine Zeit',
    'Mindestens 2 Antworten',
    'Höchstens 1 Zeichen',
  ]);
  expect(refused.text).toContain('value="soon"');
  expect(refused.text.replaceAll(/<style>.*?<\/style>|Test|Send|"[^"]*"/gs, '')).not.toMatch(
    /\b(the|this|is|at least|answer|needed)\b/i,
  );
  // The clocks went forward in between: the zone is one or two hours ahead.
  const answer = { 'field-0': '0', 'field-1': '1000', 'field-2': '2026-03-29T01:30' };
  expect((await submit(server, url, page, answer)).text).toContain('Vielen Dank');
  await clock.advance(0);
  const values = { approved: true, days: 1_000, dueAt: '2026-03-29T00:30:00.000Z' };
  expect(seen).toMatchObject([{ by: 'Ana', values: { values } }]);
});

it.each([
  [{ timeZone: 'Mars/Olympus' }, /`callbacks.timeZone`.*'Mars\/Olympus'/],
  [{ texts: { lang: 'deutsch!' } }, /`callbacks.texts.lang`.*'deutsch!'/],
])('a server does not start with %j', (callbacks, problem) => {
  expect(() => serveCallbacks(askingPeople().agent, { callbacks })).toThrow(problem);
});

it('what is approved stands above the form, with its files, and nothing of it runs or is loaded', async () => {
  const files = [
    { raw: 'AAAA', mediaType: 'image/png', filename: '"><b>.png' },
    { raw: 'AAAA', mediaType: 'text/html', filename: 'bill.html' },
    { url: 'https://a.example/?a&"b', mediaType: 'application/pdf' },
    { url: 'javascript:alert(1)', filename: 'no.js' },
  ];
  const question = reply('Pay?', ...files, data({ toolCalls: [{ input: '<i>5</i>' }] }));
  const { agent, urls } = askingPeople(question as ReturnType<typeof reply>);
  const { server } = serveCallbacks(agent);
  await rpc(server, 'SendMessage', { message: say('Ana') });
  const { text, headers } = await look(server, urls[0]!);
  const [above = ''] = text.split('<form');
  const rest = 'target="_blank" rel="noreferrer"';
  for (const shown of [
    '<img src="data:image/png;base64,AAAA" alt="&quot;&gt;&lt;b&gt;.png">',
    `<a href="data:text/html;base64,AAAA" download="bill.html" ${rest}>bill.html</a>`,
    `<a href="https://a.example/?a&amp;&quot;b" download="application/pdf" ${rest}>application/pdf</a>`,
    '<details><summary>Details</summary><pre>',
    '&lt;i&gt;5&lt;/i&gt;',
  ])
    expect(above).toContain(shown);
  expect(text).not.toMatch(/javascript:|<b>|<i>/);
  expect(headers.get('content-security-policy')).toContain(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:;",
  );
});

it('a large file of a question is a link, which the person follows without a login', async () => {
  const files = await mkdtemp(join(tmpdir(), 'baton-people-'));
  onTestFinished(() => rm(files, { recursive: true }));
  const raw = Buffer.alloc(100_000, 1).toString('base64');
  const question = reply('Pay?', { raw, mediaType: 'image/png', filename: 'bill.png' });
  const { agent, urls } = askingPeople(question);
  const options = { files: { store: folderFiles(files) }, authenticate: async () => ({ scope: 'books' }) };
  const { server } = serveCallbacks(agent, options);
  await rpc(server, 'SendMessage', { message: say('Ana') });
  const page = await look(server, urls[0]!);
  const faulty = await submit(server, urls[0]!, page, { text: ' ' });
  for (const { text } of [page, faulty]) {
    const href = /<a href="([^"]*)" download="bill.png"/.exec(text)?.[1] ?? '';
    const loaded = await server.fetch(new Request(href));
    expect([loaded.status, (await loaded.arrayBuffer()).byteLength]).toEqual([200, 100_000]);
  }
});

/** Tasks of two callers that wait for Ana, for Bo, and for both. */
async function manyQuestions() {
  const { agent, seen, urls } = askingPeople();
  const authenticate = async ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) => ({
    scope: headers['x-user'] ?? 'books',
  });
  const served = serveCallbacks(agent, { authenticate });
  const begin = async (people: string, user = 'books') => {
    const message = say(people);
    return (await rpc(served.server, 'SendMessage', { message }, { 'x-user': user })).task.id;
  };
  const ids = [await begin('Ana'), await begin('Bo'), await begin('Ana Bo'), await begin('Ana', 'other')];
  const inbox = (answeredBy: string, expiresMs = hour) =>
    served.server.inboxLink({ answeredBy, caller: 'books', expiresMs });
  return { ...served, seen, urls, ids, inbox };
}

const tasksOn = ({ text }: { readonly text: string }) =>
  [...text.matchAll(/href="\?task=([^"]+)"/g)].map(([, id]) => id);

it('a person answers all open questions of a caller by one link, and none of other people', async () => {
  const { server, clock, seen, urls, ids, inbox } = await manyQuestions();
  const [own = '', ofBo = '', ofBoth = '', elsewhere = ''] = ids;
  const { url, expiresAt } = await inbox('Ana');
  expect(expiresAt.getTime()).toBe(clock.now() + hour);
  const list = await look(server, url);
  expect([list.status, tasksOn(list).toSorted()]).toEqual([200, [own, ofBoth].toSorted()]);
  const page = await look(server, `${url}?task=${own}`);
  expect(page.text).toContain('<a href="?">Open questions</a>');
  const thanks = await submit(server, `${url}?task=${own}`, page, { text: 'Yes' });
  expect(thanks.text).toMatch(/Thank you.*<a href="\?">/s);
  expect((await submit(server, `${url}?task=${own}`, page, { text: 'Yes' })).text).toContain('Thank you');
  expect((await look(server, urls[0]!)).text).toContain('Thank you');
  await clock.advance(0);
  expect(seen).toMatchObject([{ by: 'Ana', text: 'Yes' }]);
  for (const id of [ofBo, elsewhere, 'x', `${'x'.repeat(513)}`, '%00']) {
    const at = `${url}?task=${id}`;
    expect(tasksOn(await look(server, at))).toEqual([ofBoth]);
    const question = await look(server, urls[1]!);
    expect((await submit(server, at, question, { text: 'Yes' })).status).toBe(404);
  }
  // Of two people who have a link, the first one answers.
  const both = await look(server, `${url}?task=${ofBoth}`);
  await submit(server, urls[3]!, await look(server, urls[3]!), { text: 'No' });
  expect((await submit(server, `${url}?task=${ofBoth}`, both, { text: 'Yes' })).status).toBe(409);
  expect((await look(server, url)).text).toContain('Nothing waits for an answer.');
  expect(seen).toHaveLength(2);
});

it('a link to all questions ends, and is no address for values and programs', async () => {
  const { server, clock, urls, ids, inbox } = await manyQuestions();
  const { url } = await inbox('Ana', 60_000);
  const page = await look(server, `${url}?task=${ids[0]}`);
  const told = await server.fetch(new Request(url));
  expect(await told.text()).toBe('Open questions\nOpen this address in a browser to answer.\n');
  expect(await post(server, url, { a: 1 })).toMatchObject({ status: 415 });
  const [token, other] = [url, urls[0]!].map((each) => each.split('/').at(-1)!);
  const members = JSON.parse(Buffer.from(token!, 'base64url').toString());
  for (const forged of [
    members.with(2, 'Bo'),
    members.with(3, '2999-01-01T00:00:00.000Z'),
    members.with(1, ids[1]),
  ]) {
    const text = Buffer.from(JSON.stringify(forged)).toString('base64url');
    expect((await look(server, url.replace(token!, text))).status).toBe(404);
  }
  expect((await look(server, `${urls[0]}?task=${ids[1]}`)).text).toBe((await look(server, urls[0]!)).text);
  expect(other).not.toBe(token);
  await clock.advance(60_000);
  expect((await look(server, url)).status).toBe(410);
  expect((await submit(server, `${url}?task=${ids[0]}`, page, { text: 'Yes' })).status).toBe(410);
  await expect(inbox('')).rejects.toThrow('`answeredBy`');
  await expect(inbox('Ana', 0)).rejects.toThrow(RangeError);
  const { server: without } = serveCallbacks(askingPeople().agent, { callbacks: false });
  await expect(without.inboxLink({ answeredBy: 'Ana', expiresMs: 1 })).rejects.toThrow('`callbacks`');
});
