import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A part of a page between two headings. */
interface Section {
  /** The path of the page. */
  readonly page: string;
  /** The title of the page and the heading of the section. */
  readonly title: string;
  readonly text: string;
  /** How often each word is in it; words of headings count five times. */
  readonly words: ReadonlyMap<string, number>;
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
    const rarity = new Map(
      words.map((word) => {
        const holding = sections.filter((section) => section.words.has(word)).length;
        return [word, Math.log(1 + sections.length / (1 + holding))] as const;
      }),
    );
    return sections
      .map((section) => ({ section, score: scoreOf(section, rarity) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ section: { page, title, text } }) => ({ page, title, excerpt: excerptOf(text, words) }));
  }
}

/** The words of a page's sections; code is searched too. */
function sectionsOf(page: string, markdown: string): Section[] {
  const [head = '', ...rest] = markdown.split(/^## /m);
  const title = /^# (.+)$/m.exec(head)?.[1] ?? page;
  return [head.replace(/^# .+$/m, ''), ...rest].map((text, n) => {
    const [heading = '', ...lines] = n === 0 ? ['', text] : text.split('\n');
    const body = lines.join('\n').trim();
    const words = new Map<string, number>();
    const count = (from: string, weight: number) => {
      for (const word of wordsIn(from)) words.set(word, (words.get(word) ?? 0) + weight);
    };
    count(title, 5);
    count(heading, 5);
    count(body, 1);
    return { page, title: heading ? `${title}: ${heading}` : title, text: body, words };
  });
}

/** Words in lower case, with their parts (`inputRequired`: input, required), without the `s` of a plural. */
function wordsIn(text: string): string[] {
  const found = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return found.flatMap((word) => {
    const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})|_/u).filter(Boolean);
    const all = parts.length > 1 ? [word, ...parts] : [word];
    return all.map((each) => each.toLowerCase().replace(/(?<=\p{L}{3})s$/u, ''));
  });
}

/** Rare words count more, and so does a section that has all of them. */
function scoreOf({ words }: Section, rarity: ReadonlyMap<string, number>): number {
  let score = 0;
  let found = 0;
  for (const [word, weight] of rarity) {
    const count = words.get(word);
    if (count === undefined) continue;
    found += 1;
    score += weight * Math.min(count, 8);
  }
  return (score * found) / rarity.size;
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
