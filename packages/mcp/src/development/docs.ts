import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A part of a page between two headings. */
interface Section {
  /** The path of the page. */
  readonly page: string;
  /** The title of the page and the heading of the section. */
  readonly title: string;
  readonly text: string;
  /** How often each word is in its text, and how many words it has. */
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
  /** The words of its title. */
  readonly named: ReadonlySet<string>;
}

/** A section that a search found. */
export interface Found {
  readonly page: string;
  readonly title: string;
  /** Where the words stand in it, at most 240 characters. */
  readonly excerpt: string;
}

/** Pages of Markdown in a folder, read when they are first searched. */
export class Docs {
  readonly #folder: string;
  #sections: readonly Section[] | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The paths of the pages. */
  pages(): string[] {
    return globSync('**/*.md', { cwd: this.#folder })
      .map((path) => path.replaceAll('\\', '/'))
      .sort();
  }

  /** The text of a page; undefined if the folder has no such page, which no other path is read for. */
  read(page: string): string | undefined {
    return this.pages().includes(page) ? readFileSync(join(this.#folder, page), 'utf8') : undefined;
  }

  /** The sections that fit the words best, the best first. */
  search(query: string, limit: number): Found[] {
    this.#sections ??= this.pages().flatMap((page) => sectionsOf(page, this.read(page) ?? ''));
    const sections = this.#sections;
    const words = [...new Set(wordsIn(query))];
    const score = scorer(sections, words);
    return sections
      .map((section) => ({ section, score: score(section) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ section: { page, title, text } }) => ({ page, title, excerpt: excerptOf(text, words) }));
  }
}

/** The sections of a page; code is searched too. */
function sectionsOf(page: string, markdown: string): Section[] {
  const [head = '', ...rest] = markdown.split(/^## /m);
  const title = /^# (.+)$/m.exec(head)?.[1] ?? page;
  return [head.replace(/^# .+$/m, ''), ...rest].map((text, n) => {
    const [heading = '', ...lines] = n === 0 ? ['', text] : text.split('\n');
    const body = lines.join('\n').trim();
    const all = wordsIn(body);
    const words = new Map<string, number>();
    for (const word of all) words.set(word, (words.get(word) ?? 0) + 1);
    const named = new Set(wordsIn(`${title} ${heading}`));
    return {
      ...{ page, words, named, length: all.length },
      title: heading ? `${title}: ${heading}` : title,
      text: body,
    };
  });
}

/** Words that say nothing about a page. */
const common: ReadonlySet<string> = new Set(
  'a an and are as at be by can do does for from how i if in is it my of on or that the this to what when with'.split(
    ' ',
  ),
);

/** Words in lower case, with their parts (`inputRequired`: input, required), without common endings. */
function wordsIn(text: string): string[] {
  const found = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return found
    .flatMap((word) => {
      const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})|_/u).filter(Boolean);
      return parts.length > 1 ? [word, ...parts] : [word];
    })
    .map((word) => word.toLowerCase())
    .filter((word) => !common.has(word))
    .map((word) => word.replace(/(?<=\p{L}{3})(?:ing|ed|es|s)$/u, ''));
}

/** How much a title counts, beside a text that is full of the word. */
const titleWeight = 2;

/** Scores sections by words: rare words count more, long sections less, and sections with all of them most (BM25). */
function scorer(sections: readonly Section[], words: readonly string[]): (section: Section) => number {
  const mean = sections.reduce((sum, { length }) => sum + length, 0) / Math.max(1, sections.length);
  const rarity = words.map((word) => {
    const holding = sections.filter((each) => each.words.has(word) || each.named.has(word)).length;
    return [word, Math.log(1 + (sections.length - holding + 0.5) / (holding + 0.5))] as const;
  });
  return ({ page, words: counts, named, length }) => {
    let score = 0;
    let found = 0;
    for (const [word, weight] of rarity) {
      const count = counts.get(word) ?? 0;
      const inTitle = named.has(word);
      if (count === 0 && !inTitle) continue;
      found += 1;
      const inText = (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / mean));
      score += weight * (inText + (inTitle ? titleWeight : 0));
    }
    // The list of all pages has the words of all of them.
    return page === 'README.md' ? 0 : score * Math.sqrt(found / Math.max(1, rarity.length));
  };
}

const excerptLength = 240;

function excerptOf(text: string, words: readonly string[]): string {
  const plain = text.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/\s+/g, ' ');
  const lower = plain.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, plain.length) - 40);
  const from = places.length > 0 ? start : 0;
  const cut = plain.slice(from, from + excerptLength);
  return `${from > 0 ? '…' : ''}${cut}${from + excerptLength < plain.length ? '…' : ''}`;
}
