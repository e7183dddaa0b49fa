import { describe, expect, it } from 'vitest';
import { allOptions } from '../../docs/.vitepress/tables.ts';
import { documents, readText } from './source-files.ts';

const strings = /'(?:\\.|[^'\\\n])*'|"[^"\n]*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*/g;
const token = /(?:(\w+)\s*(:\s*)?)?([{([])|([})\]])|(\w+)(?=\s*[:,}])/g;

/** The options that the pages use which explain a server: not the generated table, and not reports, decisions and notes. */
const used = new Set(
  documents()
    .filter((path) => /^docs\/(start|agents|serving|operating)\/|^docs\/preview-/.test(path))
    .flatMap((path) => usesIn(readText(path))),
);

/** The options that a page uses: in its sentences each with its group, and in its programs those of servers and workers. */
function usesIn(page: string): string[] {
  const programs = Array.from(page.matchAll(/```ts[^\n]*\n([\s\S]*?)```/g), ([, code = '']) => code);
  const named = page.replaceAll(/```[\s\S]*?```/g, '').match(/(?<=`)[^`\n]+(?=`)/g) ?? [];
  return [...programs.flatMap(membersIn), ...named.flatMap(namedIn)];
}

/** `push.retry.maxAgeMs`, `cors: { origins }`, `logger: pino()` or `logger`. */
function namedIn(sentence: string): string[] {
  return /^\w+: \{/.test(sentence) ? membersIn(`{ ${sentence} }`) : (/^[\w.]+(?=$|: )/.exec(sentence) ?? []);
}

/** The members of the objects in a program, each after those that it is in, unless another function than these takes them. */
function membersIn(code: string): string[] {
  const open: string[] = [];
  const found: string[] = [];
  const add = (member: string) => {
    const call = open.findLastIndex((each) => each.endsWith('('));
    if (call >= 0 && !/^create(AgentServer|Worker)\($/.test(open[call]!)) return;
    found.push([...open.slice(call + 1), member].filter((each) => each !== '').join('.'));
  };
  for (const [, name = '', colon, bracket, end, word] of code.replaceAll(strings, "''").matchAll(token)) {
    if (end) open.pop();
    const member = word ?? (colon && name);
    if (member && open.length > 0) add(member);
    if (bracket) open.push(bracket === '(' ? `${colon ? '' : name}(` : colon ? name : '');
  }
  return found;
}

/** Whether it or a member of it is used by its whole name, or by its own with that of the nearest group. */
const isUsed = (option: string): boolean =>
  [option, option.split('.').slice(-2).join('.')].some(
    (name) => used.has(name) || (name.includes('.') && [...used].some((use) => use.startsWith(`${name}.`))),
  );

describe('an option of the server', () => {
  it.each(allOptions())('is used on a page beside the table: $name', ({ name }) => {
    expect(isUsed(name)).toBe(true);
  });

  it('is found in a sentence with its group, and in a program as a member of it', () => {
    const page = [
      '`push.retry.baseDelayMs`, `leaseMs`, `turn.limits`, `cors: { origins: [] }` and `logger: pino()`',
      '```ts',
      "createWorker({ retention: { rules: [{ label: 'a: { b' }] }, store, agent: () => other({ push: 1 }) });",
      'connect(url, { credentials: {} }); // { cors: true }',
      '```',
    ].join('\n');
    expect(usesIn(page)).toEqual([
      ...['retention', 'retention.rules', 'retention.rules.label', 'store', 'agent'],
      ...['push.retry.baseDelayMs', 'leaseMs', 'turn.limits', 'cors', 'cors.origins', 'logger'],
    ]);
  });
});
