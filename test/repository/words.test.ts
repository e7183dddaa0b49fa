import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOnly, commentsOf, type SourceFile, sourceFiles, workspaces } from './source-files.ts';

/**
 * Private words that names once had; the glossary of docs/architecture.md has the word of the field for each: notify,
 * subscribe, unsubscribe, adapter, unbounded, retry, cursor, event, start, queue, request, flush, early, fixture; pending,
 * immediate, due, status.
 */
const privateWord =
  /^(bells?|rings?|rang|rung|ringing|hangs?|hung|unhang|unwatch|skins?|patient|insists?|errands?|told|tells?|beginnings?|lanes?|parked|parking|parcels?|breathed?|farewells?|outbox|outboxes|hurry|hurries|hurried|wish|wishes|bench|benches|untaken|hasty|ripe|standing|tally)$/;

/** A `log` that takes messages: that is a `logger`, and `log` is the log of a task. */
const logThatIsLogger =
  /(?<!console\.)\blog\(\s*['"](?:error|warn|info)['"]|\blog\??: (?:Logger|\((?:level|\.\.\.))\b|\.log\(level\b/g;

/** A `schedule` is the order in which turns are given out. Items by time are in a queue, and work that is postponed is pending. */
const otherSchedule = /#schedule\(|#(?:isS|s)cheduled\b|\bclass Schedule\b/g;

/** Words that hide the subject of a sentence, and private words that comments explain other things by. */
const vagueWord =
  /\b(whoever|somebody|nobody|what is|bells?|skins?|errands?|anew|for ever|put off|stranded)\b/gi;

/** Packages that still have such words. */
const unsettled: readonly string[] = [];

describe.each(workspaces())('$folder', ({ name, folder }) => {
  const files = sourceFiles(`${folder}/src`);

  it('names things by words of the glossary, the specification or the language', () => {
    const found = files.flatMap((file) => namesIn(file).filter((each) => wordsIn(each).some(isPrivate)));
    if (!unsettled.includes(name)) expect(found).toEqual([]);
  });

  it('calls no logger a log', () => {
    const found = files.flatMap(({ path, text }) =>
      Array.from(text.matchAll(logThatIsLogger), ([words]) => `${path}: ${words}`),
    );
    expect(found).toEqual([]);
  });

  it('calls nothing a schedule but the order of turns', () => {
    const found = files.flatMap(({ path, text }) =>
      Array.from(text.matchAll(otherSchedule), ([words]) => `${path}: ${words}`),
    );
    expect(found).toEqual([]);
  });

  it('names the subject in its comments', () => {
    const found = files.flatMap(({ path, text }) =>
      Array.from(commentsOf(text).join('\n').matchAll(vagueWord), ([word]) => `${path}: ${word}`),
    );
    if (!unsettled.includes(name)) expect(found).toEqual([]);
  });
});

describe('words in names', () => {
  it('are found in identifiers and file names of any case', () => {
    expect(
      ['ringBell', 'openSkin', 'unhang', 'on-rung', 'PATIENT_MS', 'retellTold'].flatMap(wordsIn),
    ).toEqual(['ring', 'bell', 'open', 'skin', 'unhang', 'on', 'rung', 'patient', 'ms', 'retell', 'told']);
  });

  it('are not found inside of other words', () => {
    expect(
      ['string', 'change', 'intelligent', 'skinny', 'patience'].flatMap(wordsIn).filter(isPrivate),
    ).toEqual([]);
  });
});

it('a logger that is called a log is found', () => {
  const found = (text: string) => text.match(logThatIsLogger) ?? [];
  for (const text of [
    "log('warn', text)",
    "this.#log('error', text)",
    'readonly log?: Logger',
    'log: (...line) => 1',
  ])
    expect(found(text), text).toHaveLength(1);
  for (const text of [
    "console.log('error')",
    'log.write(fact)',
    'log: StoredLog',
    'foldLog(log)',
    "logger('info', text)",
  ])
    expect(found(text), text).toEqual([]);
});

it('a schedule that is none is found', () => {
  const found = (text: string) => text.match(otherSchedule) ?? [];
  for (const text of [
    '  #schedule(): void {',
    '#isScheduled = false',
    'this.#scheduled',
    'class Schedule<Item> {',
  ])
    expect(found(text), text).toHaveLength(1);
  for (const text of ['orderFor(schedule)', 'schedule?: TurnSchedule', 'scheduled(message, { priority: 1 })'])
    expect(found(text), text).toEqual([]);
});

/** The file's own name and every identifier in its code, each once. */
function namesIn({ path, text }: SourceFile): string[] {
  return [...new Set([basename(path, '.ts'), ...(codeOnly(text).match(/[A-Za-z_$][\w$]*/g) ?? [])])];
}

const wordsIn = (name: string): string[] =>
  name
    .split(/(?<=[a-z\d])(?=[A-Z])|[-_.$]/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '');

const isPrivate = (word: string): boolean => privateWord.test(word);
