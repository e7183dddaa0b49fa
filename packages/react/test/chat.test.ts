import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Chat } from '../src/chat/chat.tsx';
import { Markdown } from '../src/chat/markdown.tsx';
import { english } from '../src/chat/texts.ts';

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

it('is rendered on a server, without an agent and with words of one’s own', () => {
  const texts = { ...english, lang: 'de', newChat: 'Neuer Chat' };
  const html = renderToStaticMarkup(createElement(Chat, { agent: undefined, texts }));
  expect(html).toMatch(/lang="de".*Neuer Chat/s);
});
