import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { completeGroups, docs } from './pages.ts';

/** The page that explains the words. */
const page = 'start/concepts.md';

/** Before these words, a turn or a step is that of an agent, and not one that a page takes or a reader makes. */
const before = (words: string): string => `(?<=\\b(?:${words})\\s)`;
const some = 'a|an|the|one|each|every|this|that|its|their|of|next|first|last|later|running|whole|no|another';

/** The words, by the heading that explains them. */
const patterns: Readonly<Record<string, string>> = {
  agent: 'agents?|cards?',
  task: 'tasks?',
  turn: `${before(some)}turns?`,
  update: `${before('an|the|each|every|its|last|status|yields')}updates?`,
  question: '(?<!\\bis the )questions?',
  step: `${before('a|the|each|its|of|recorded|durable')}steps?`,
  artifact: 'artifacts?',
  context: `${before('a|the|its|this|one')}contexts?`,
  memory: "(?<=\\bthe task's |\\btask )memory|memory(?= of (?:the|a) task)",
  lease: 'leases?',
  webhook: 'webhooks?',
};

/** Groups of pages whose words are linked. The others are for readers who know them. */
const linked: readonly string[] = ['Start', 'Write an agent', 'Serve it', 'Operate it'];

/** Whether a page, as a path below `docs`, gets links to the words. */
export const hasConcepts = (path: string): boolean =>
  path !== page &&
  completeGroups().some(({ title, pages }) => linked.includes(title) && pages.includes(path));

/** Fences, code, links, headings, tags and the marks of tables: a word in them is not linked. */
const untouched = /(^```[\s\S]*?^```$|`[^`\n]+`|!?\[[^\]]*\]\([^)]*\)|^ *#.*$|<[^>]+>|https?:\S+)/m;

/**
 * The Markdown of a page, with a link to the explanation of each word where the page first uses it, outside of code,
 * headings and other links. The text of the link says the explanation's first sentence when a mouse is over it.
 */
export function withConcepts(markdown: string, path: string): string {
  const open = new Map(
    Object.entries(patterns).map(([word, pattern]) => [word, new RegExp(`\\b(?:${pattern})\\b`, 'i')]),
  );
  const target = posix.relative(posix.dirname(path), page);
  const parts = markdown.split(untouched);
  for (const [n, part] of parts.entries()) {
    if (n % 2 === 1) continue;
    let rest = part;
    let done = '';
    for (;;) {
      const found = firstOf(open, rest);
      if (!found) break;
      const { word, text, at } = found;
      open.delete(word);
      done += `${rest.slice(0, at)}[${text}](${target}#${word} "${meaningOf(word)}")`;
      rest = rest.slice(at + text.length);
    }
    parts[n] = done + rest;
  }
  return parts.join('');
}

/** The word that comes first in a text, of those that are still open. */
function firstOf(open: ReadonlyMap<string, RegExp>, text: string) {
  let first: { readonly word: string; readonly text: string; readonly at: number } | undefined;
  for (const [word, pattern] of open) {
    const found = pattern.exec(text);
    if (found && found.index < (first?.at ?? Number.POSITIVE_INFINITY))
      first = { word, text: found[0], at: found.index };
  }
  return first;
}

const meanings = new Map<string, string>();

/** The first sentence of the section about a word, as plain text. */
export function meaningOf(word: string): string {
  const known = meanings.get(word);
  if (known !== undefined) return known;
  const sections = readFileSync(join(docs, page), 'utf8').split(/^## /m);
  const section = sections.find((each) => each.toLowerCase().startsWith(`${word}\n`));
  if (!section) throw new Error(`docs/${page} has no section about "${word}"`);
  const prose = section.slice(word.length).trim().split('\n\n')[0]!.replaceAll(/\s+/g, ' ');
  const sentence = /^.*?[.](?= ["A-Z]|$)/.exec(prose)?.[0] ?? prose;
  const plain = sentence.replaceAll(/`|"/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  meanings.set(word, plain);
  return plain;
}

/** The words that are linked. */
export const conceptWords: readonly string[] = Object.keys(patterns);
