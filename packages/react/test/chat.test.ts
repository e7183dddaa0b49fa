import type { Artifact, Json, Part, Task, TaskState } from '@batonjs/protocol';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Chat } from '../src/chat/chat.tsx';
import { Markdown } from '../src/chat/markdown.tsx';
import { TaskView } from '../src/chat/task-view.tsx';
import { german } from '../src/chat/texts.ts';

const shown = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

it.each([
  ['**bold** _it_ ~~no~~ `a < b`', '<strong>bold</strong> <em>it</em> <del>no</del> <code>a &lt; b</code>'],
  ['one\ntwo', 'one<br/>two'],
  ['# Title', '<h2>Title</h2>'],
  ['3. three\n4. four', '<ol start="3"><li>three</li><li>four</li></ol>'],
  ['- [x] done\n- [ ] open', '☑'],
  ['> said', '<blockquote><p>said</p></blockquote>'],
  [
    '| a | b |\n| - | - |\n| 1 | 2 |',
    '<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td>',
  ],
  [
    '| a | b |\n| - | -: |\n| 1 | 2 |',
    '<th align="right">b</th></tr></thead><tbody><tr><td>1</td><td align="right">2',
  ],
  ['```ts\nlet a;\n```', '<pre tabindex="0">let a;</pre>'],
  ['AT&amp;T &unknown;', 'AT&amp;T &amp;unknown;'],
  [
    '[page](https://a.example/)',
    '<a href="https://a.example/" target="_blank" rel="noopener noreferrer nofollow">page</a>',
  ],
])('Markdown %j', (text, html) => {
  expect(shown(text)).toContain(html);
});

it.each([
  '<img src=x onerror=alert(1)>',
  'a <script>alert(1)</script> b',
  '[click](javascript:alert(1))',
  '[click](JaVaScRiPt:alert(1))',
  '[click](data:text/html,<b>1</b>)',
  '![picture](javascript:alert(1))',
  '![picture](https://a.example/seen-by.png)',
  '<https://a.example/"onclick="alert(1)>',
])('markup and addresses of %j do nothing, and nothing is loaded', (text) => {
  const html = shown(text);
  expect(html).not.toMatch(/<(img|script|b)\b|href="(?!https:)|"\s*onclick/i);
});

it('is rendered on a server, without an agent and in German', () => {
  const html = renderToStaticMarkup(createElement(Chat, { agent: undefined, texts: german }));
  expect(html).toMatch(/lang="de".*Neuer Chat/s);
});

const data = (value: Json, mediaType?: string): Part => ({ data: value, ...(mediaType && { mediaType }) });
let messages = 0;
const said = (role: 'ROLE_USER' | 'ROLE_AGENT', ...parts: readonly (string | Part)[]) => ({
  messageId: `m-${messages++}`,
  role,
  parts: parts.map((part) => (typeof part === 'string' ? { text: part } : part)),
});

/** A task as the chat shows it. */
function view(state: string, parts: readonly (string | Part)[], more: Partial<Task> = {}): string {
  const message = parts.length > 0 ? { message: said('ROLE_AGENT', ...parts) } : {};
  const history = [said('ROLE_USER', 'Go'), ...(more.history ?? [])];
  const status = { state: `TASK_STATE_${state}` as TaskState, ...message };
  return renderToStaticMarkup(createElement(TaskView, { task: { id: 't', ...more, history, status } }));
}

const call = (id: string) => ({
  toolCallId: id,
  toolName: `tool-${id}`,
  input: { of: id },
  needs: 'approval',
});
const calls = (...ids: string[]) => data({ toolCalls: ids.map(call) });
const form = (...ids: string[]) => {
  const properties = Object.fromEntries(ids.map((id) => [id, { type: 'boolean' }]));
  return data({ formId: 'f', schema: { type: 'object', properties } }, 'application/vnd.batonjs.form+json');
};

it.each<[string, readonly (string | Part)[], boolean, boolean]>([
  ['words', ['Which?'], false, false],
  ['a call', ['May it?', calls('a')], true, false],
  ['a call with its form', ['May it?', calls('a'), form('a')], true, false],
  ['calls', ['May they?', calls('a', 'b')], true, false],
  ['calls with a form, one by one', ['May they?', calls('a', 'b'), form('a', 'b')], false, true],
  ['a form', ['How?', form('fast')], false, true],
])('a question of %s has the buttons or the form that answer it', (_, parts, hasButtons, hasForm) => {
  const html = view('INPUT_REQUIRED', parts);
  expect([/>Allow<.*>Deny</.test(html), html.includes('<form')]).toEqual([hasButtons, hasForm]);
  for (const part of parts)
    if (Object(part).data?.toolCalls)
      expect(html).toContain('<pre tabindex="0">{\n  &quot;of&quot;: &quot;a&quot;\n}</pre>');
});

it.each([
  ['FAILED', [], 'The agent could not finish.'],
  ['FAILED', ['No paper'], 'No paper'],
  ['REJECTED', [], 'The agent could not finish.'],
  ['CANCELED', [], 'Stopped.'],
  ['COMPLETED', ['All is well'], 'All is well'],
  ['AUTH_REQUIRED', ['Sign in'], 'Sign in'],
])('a task that is %s with %j says %j, also after a reload', (state, parts, words) => {
  expect(view(state, parts)).toContain(`<p>${words}</p>`);
});

it('what the agent did is one line, with a call in its latest state; what was answered is a question', () => {
  const tool = { toolCallId: 'a', toolName: 'search' };
  const history = [
    said('ROLE_AGENT', 'Looks'),
    said('ROLE_AGENT', data({ ...tool, state: 'called', input: 'boats' })),
    said('ROLE_AGENT', data({ ...tool, state: 'done', output: 3 })),
    said('ROLE_AGENT', 'May I?'),
    said('ROLE_USER', data({ a: { approved: true } })),
  ];
  const thought: Artifact = { artifactId: 'reasoning', parts: [{ text: 'Hm' }] };
  const html = view('WORKING', ['Writes'], { history, artifacts: [thought] });
  expect(html.match(/<summary[^>]*>[^<]*/g)).toEqual([
    '<summary dir="auto">search',
    '<summary dir="auto">Writes',
    '<summary>reasoning',
  ]);
  expect(html).toContain('<b>search</b> done<pre tabindex="0">boats</pre><pre tabindex="0">3</pre>');
  expect(html).toMatch(/<p>May I\?<\/p>.*>a: Allow</s);
});
