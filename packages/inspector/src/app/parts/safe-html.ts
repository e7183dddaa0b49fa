import DOMPurify from 'dompurify';
import { Marked } from 'marked';

/** Markup within Markdown is shown as the text that it is. */
const markdown = new Marked({ gfm: true, breaks: true, renderer: { html: ({ text }) => escaped(text) } });

const elements =
  'p br hr h1 h2 h3 h4 h5 h6 strong em del code pre blockquote ul ol li table thead tbody tr th td a img span';

const allowed = {
  ALLOWED_TAGS: elements.split(' '),
  ALLOWED_ATTR: ['align', 'href', 'title', 'alt', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true as const,
};

/**
 * Markdown of an agent as nodes. Only listed elements and attributes are kept, whatever the renderer made; a picture becomes
 * its description, because loading it would show the reader's address to another server.
 */
export function renderMarkdown(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markdown.parse(text, { async: false }), allowed);
  for (const picture of fragment.querySelectorAll('img')) {
    const words = document.createElement('span');
    words.className = 'markdown-picture';
    words.textContent = picture.alt ? `Picture: ${picture.alt}` : 'Picture';
    picture.replaceWith(words);
  }
  for (const link of fragment.querySelectorAll('a')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer nofollow';
  }
  // Under the heading of their section, without a step left out.
  const titles = [...fragment.querySelectorAll('h1,h2,h3,h4,h5,h6')];
  const levels = [...new Set(titles.map(({ tagName }) => tagName))].sort();
  let before = 2;
  for (const title of titles) {
    before = Math.min(before + 1, 3 + levels.indexOf(title.tagName), 6);
    const shown = document.createElement(`h${before}`);
    shown.append(...title.childNodes);
    title.replaceWith(shown);
  }
  return fragment;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
