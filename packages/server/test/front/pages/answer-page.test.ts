import { expect, it } from 'vitest';
import { PageWords } from '../../../src/base/page-words.ts';
import {
  inboxPage,
  linkText,
  questionPage,
  type Refused,
  settledPage,
} from '../../../src/front/pages/answer-page.ts';
import { data, type Part } from '../../../src/index.ts';

/** The pages of answer links, as HTML. How a person uses them is in `../../callbacks` and in the tests with a browser. */

const words = new PageWords();
const asking = { agent: 'Payer', words };
const asked = { by: 'Ana', expiresAt: '2026-01-02T03:04:00.000Z', form: undefined };
const questionOf = (...parts: Part[]) => ({ messageId: 'm-1', role: 'ROLE_AGENT' as const, parts });
const pay = questionOf({ text: 'Pay?' });

/** The page of a form with these members. */
const pageOf = (
  properties: object,
  more: { initial?: object; required?: string[]; refused?: Refused } = {},
) => {
  const { initial, required, refused } = more;
  const schema = { type: 'object', properties, ...(required && { required }) };
  const form = { formId: 'f', schema, ...(initial && { initial }) };
  const waiting = { ...asked, question: pay, form } as unknown as Parameters<typeof questionPage>[0];
  return questionPage(waiting, asking, refused && { refused });
};
const optional = ' <span class="optional">optional</span>';
const option = (type: string, index: number, text: string, checked = '') =>
  `<label class="option"><input type="${type}" name="field-0" value="${index}"${checked}> ${text}</label>`;

it.each<[string, object, Parameters<typeof pageOf>[1], string]>([
  [
    'a line',
    { a: { type: 'string' } },
    {},
    `<label for="field-0">A${optional}</label>\n<input id="field-0" name="field-0" type="text" value="">`,
  ],
  [
    'one that is needed',
    { a: { type: 'string' } },
    { required: ['a'], initial: { a: '"x"' } },
    '<label for="field-0">A</label>\n<input id="field-0" name="field-0" required type="text" value="&quot;x&quot;">',
  ],
  [
    'a hint',
    { a: { type: 'string', description: 'In <b>words</b>' } },
    {},
    '<p class="hint">In &lt;b&gt;words&lt;/b&gt;</p>\n<input',
  ],
  [
    'a long text',
    { a: { type: 'string', maxLength: 1_000 } },
    { initial: { a: 'x' } },
    '<textarea id="field-0" name="field-0" rows="4">x</textarea>',
  ],
  ['JSON', { a: { type: 'array', items: { type: 'object' } } }, {}, ' rows="4" class="mono"></textarea>'],
  [
    'a number',
    { a: { type: 'integer' } },
    { initial: { a: 5 } },
    'type="text" inputmode="decimal" value="5">',
  ],
  ['a date', { a: { type: 'string', format: 'date' } }, {}, 'type="date" value="">'],
  [
    'a moment, with its zone',
    { a: { type: 'string', format: 'date-time' } },
    { initial: { a: asked.expiresAt } },
    `<label for="field-0">A${optional} <span class="optional">UTC</span></label>\n<input id="field-0" name="field-0" type="datetime-local" value="2026-01-02T03:04">`,
  ],
  [
    'one of some',
    { a: { enum: ['EUR', 'USD'] } },
    { initial: { a: 'USD' } },
    `<fieldset><legend>A${optional}</legend>\n${option('radio', 0, 'EUR')}\n${option('radio', 1, 'USD', ' checked')}\n</fieldset>`,
  ],
  [
    'one of some, needed',
    { a: { enum: ['EUR'] } },
    { required: ['a'] },
    `<legend>A</legend>\n<label class="option"><input type="radio" required name="field-0" value="0"> EUR</label>`,
  ],
  ['yes or no', { a: { type: 'boolean' } }, {}, `${option('radio', 0, 'Yes')}\n${option('radio', 1, 'No')}`],
  [
    'some of many',
    { a: { type: 'array', items: { enum: ['x', 'y'] }, uniqueItems: true } },
    { initial: { a: ['y'] } },
    `${option('checkbox', 0, 'x')}\n${option('checkbox', 1, 'y', ' checked')}`,
  ],
  [
    'a group',
    { a: { type: 'object', properties: { b: { type: 'string' } } } },
    {},
    `<fieldset><legend>A${optional}</legend>\n<label for="field-`,
  ],
])('a field is shown: %s', (_, properties, more, html) => {
  expect(pageOf(properties, more).body).toContain(html);
});

it('what was posted stays, and each fault is named where it is, the first with the focus', () => {
  const properties = { a: { type: 'string' }, b: { enum: ['x', 'y'] } };
  const refused = {
    posted: new URLSearchParams({ 'field-0': '<mine>', 'field-1': '1' }),
    errors: { b: 'Take another' },
  };
  const one = pageOf(properties, { refused });
  expect(one.status).toBe(422);
  for (const html of [
    '<title>One thing needs a look · Payer asks Ana</title>',
    '<p class="error" role="alert">One thing needs a look</p>',
    'value="&lt;mine&gt;"',
    '<fieldset aria-invalid="true" tabindex="-1" autofocus aria-describedby="field-1-error">',
    '<p class="error" id="field-1-error">Take another</p>',
    'value="1" checked>',
  ])
    expect(one.body).toContain(html);
  const two = pageOf(properties, { refused: { ...refused, errors: { a: 'No', b: 'No', '': 'All of it' } } });
  expect(two.body).toContain('<title>2 things need a look · Payer asks Ana</title>');
  expect(two.body).toContain('role="alert">All of it</p>');
  expect(`${two.body}`.match(/autofocus/g)).toHaveLength(1);
});

it.each<[string, Part[], string]>([
  [
    'data',
    [data({ cents: 5 })],
    '<details><summary>Details</summary><pre>{\n  &quot;cents&quot;: 5\n}</pre></details>',
  ],
  [
    'a picture in the message',
    [{ raw: 'AAAA', mediaType: 'image/png', filename: 'bill.png' }],
    '<img src="data:image/png;base64,AAAA" alt="bill.png">',
  ],
  [
    'another file',
    [{ raw: 'AAAA', mediaType: 'image/svg+xml' }],
    '<a href="data:image/svg+xml;base64,AAAA" download="image/svg+xml" target="_blank" rel="noreferrer">image/svg+xml</a>',
  ],
  [
    'a link',
    [{ url: 'https://a.example/"b"' }],
    '<a href="https://a.example/&quot;b&quot;" download="Details"',
  ],
])('what is approved stands above the form: %s', (_, parts, html) => {
  const { body } = questionPage({ ...asked, question: questionOf({ text: 'Pay?' }, ...parts) }, asking);
  expect(body).toContain(html);
  expect(`${body}`.indexOf(html)).toBeLessThan(`${body}`.indexOf('<form'));
});

it('shows no link that a browser would run', () => {
  const question = questionOf({ text: 'Pay?' }, { url: 'javascript:alert(1)' });
  expect(questionPage({ ...asked, question }, asking).body).not.toContain('javascript:');
});

it('a question without a form has one field, which keeps what was written', () => {
  const refused = {
    posted: new URLSearchParams({ text: 'mine' }),
    errors: { text: 'Write an answer first' },
  };
  const { body, status } = questionPage({ ...asked, question: pay }, asking, { refused });
  expect(status).toBe(422);
  expect(body).toContain(
    '<textarea id="text" name="text" rows="4" required aria-invalid="true" autofocus aria-describedby="text-error">mine</textarea>',
  );
  const changed = questionPage(
    { ...asked, question: pay },
    { ...asking, isOfInbox: true },
    { isChanged: true },
  );
  expect(changed.status).toBe(409);
  expect(changed.body).toContain('The question has changed since this page was loaded. Look at it again.');
  expect(changed.body).toContain('<a href="?">Open questions</a>');
});

it('texts are cut where they are too long for a page, and numbers are written as the language has it', () => {
  const { body } = questionPage(
    { ...asked, question: questionOf({ text: 'x'.repeat(20_001) }) },
    { ...asking, agent: 'y'.repeat(301) },
  );
  expect(body).toContain(`${'x'.repeat(20_000)} …`);
  expect(body).toContain(`<p class="from">${'y'.repeat(300)} …`);
  expect(settledPage('unknown', asking).body).toMatch(
    /<h1>No such question<\/h1>\n<p>The link is not complete/,
  );
  const german = new PageWords({ lang: 'de' });
  expect(german.say('At least 1,234.00005')).toBe('Mindestens 1.234,00005');
  expect(() => new PageWords({ 'A text': 'x' } as never)).toThrow("no page says 'A text'");
});

it('programs get text, and the list names each question by its words, its form, or as one', () => {
  const told = linkText({ ...asked, question: pay }, asking);
  expect(told).toEqual({
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: 'Payer asks Ana: Pay?\nOpen this address in a browser to answer.\n',
  });
  expect(linkText('expired', asking).body).toBe('Too late\nThis link has expired. Ask for another one.\n');
  expect(settledPage('reserved', asking)).toMatchObject({
    status: 403,
    body: expect.stringContaining('For other people'),
  });
  const form = { formId: 'f', title: 'Bill', schema: {} };
  const list = inboxPage(
    'Ana',
    [
      { ...asked, taskId: 'a/b', question: pay },
      { ...asked, taskId: 'c', question: questionOf(), form },
      { ...asked, taskId: 'd', question: questionOf() },
    ] as unknown as Parameters<typeof inboxPage>[1],
    asking,
  );
  for (const html of [
    '<a href="?task=a%2Fb">Pay?</a>',
    '<a href="?task=c">Bill</a>',
    '<a href="?task=d">A question</a>',
  ])
    expect(list.body).toContain(html);
  expect(inboxPage('Ana', [], asking).body).toContain('Nothing waits for an answer.');
});
