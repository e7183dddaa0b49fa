import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { A2A_DOMAIN, type ErrorRow, errorTable } from '../../packages/protocol/src/errors.ts';
import { root } from './links.ts';

/** An option, as its docstring describes it. */
export interface Option {
  readonly name: string;
  readonly isRequired: boolean;
  /** The docstring without the sentence that names the default. */
  readonly meaning: string;
  /** The text of that sentence, such as `10,000`. */
  readonly standard: string | undefined;
}

/** The members of an interface, or of an object with defaults, in a file of the repository. */
export function optionsOf(path: string, type: string): Option[] {
  const text = readFileSync(join(root, path), 'utf8');
  const body = new RegExp(`^(?:export )?(?:interface|const) ${type}\\b[^{]*{\\n([\\s\\S]*?)^}`, 'm').exec(
    text,
  )?.[1];
  if (body === undefined) throw new Error(`${path} has no ${type}`);
  const member = /^ {2}(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+)?(readonly )?(\w+)(\?)?: /gm;
  return Array.from(body.matchAll(member), ([, docstring = '', typed, name = '', optional]) => {
    const words = docstring.replaceAll(/\s*\n\s*\* ?|\s+/g, ' ').trim();
    const [, standard] = /\bDefault:? ((?:[^.`(]|`[^`]*`|\([^)]*\)|\.(?=\S))+)/.exec(words) ?? [];
    const meaning = words.replace(/\s*\bDefault:? (?:[^.`(]|`[^`]*`|\([^)]*\)|\.(?=\S))+\.?/, '');
    return { name, isRequired: typed !== undefined && optional === undefined, meaning, standard };
  });
}

/** Where the options of each heading on the page `options.md` are declared. */
const optionTables: Readonly<Record<string, readonly [path: string, type: string, prefix?: string][]>> = {
  server: [
    ['options.ts', 'AgentServerOptions'],
    ['operations/card/derived-members.ts', 'CardOptions', 'card.'],
    ['base/timeouts.ts', 'streamOptions', 'streams.'],
  ],
  both: [
    ['options.ts', 'WorkerOptions'],
    ['options.ts', 'RerunOptions', 'restart.'],
    ['options.ts', 'VersionOptions', 'version.'],
    ['agent/caller.ts', 'messageOptions', 'messages.'],
  ],
  timeouts: [['base/timeouts.ts', 'timeouts', 'timeouts.']],
  queue: [['turns/order/schedule.ts', 'queueOptions', 'queue.']],
  limits: [['base/limits.ts', 'defaultLimits', 'limits.']],
  callers: [
    ['front/calls/caller-limits.ts', 'CallerLimits', 'limits.callers.'],
    ['base/caller-rate.ts', 'CallerRate', 'limits.callers.requests.'],
  ],
  callbacks: [['turns/outside/callback-options.ts', 'callbackOptions', 'callbacks.']],
  files: [['turns/files/file-options.ts', 'fileOptions', 'files.']],
  retention: [
    ['base/store/retention.ts', 'RetentionOptions', 'retention.'],
    ['base/store/retention.ts', 'RetentionRule', 'retention.rules.'],
  ],
  push: [
    ['webhooks/webhooks.ts', 'pushOptions', 'push.'],
    ['webhooks/webhooks.ts', 'pushRetry', 'push.retry.'],
    ['webhooks/address-policy/address-policy.ts', 'addressOptions', 'push.'],
  ],
  cors: [['front/http/cors.ts', 'CorsOptions', 'cors.']],
};

/** What a name means whose docstring stands at its type. */
const meaningOfType: Readonly<Record<string, string>> = {
  agent: 'The agent: a function of a turn.',
  card: 'The agent card: name, description, skills; the server adds the rest.',
  limits: 'The sizes beyond which the server refuses, and how much `callers` may use: see below.',
  streams: 'How streams are kept open: see below.',
  'version.name': 'The version of the program.',
  'push.retry': 'When a delivery is tried again: see below.',
  'push.sign': 'Signs each delivery: `signPush` of `@batonjs/auth`.',
};

/** The options of a heading, each with the name under which it is passed. */
export function listedOptions(table: string): Option[] {
  const sources = optionTables[table];
  if (!sources) throw new Error(`There is no table of options called ${table}`);
  const shown = new Map<string, Option>();
  for (const [path, type, prefix = ''] of sources)
    for (const option of optionsOf(`packages/server/src/${path}`, type)) {
      const name = prefix + option.name;
      const meaning = option.meaning || meaningOfType[name] || '';
      // The first interface decides: it says what its own default is.
      if (!shown.has(name)) shown.set(name, { ...option, name, meaning });
    }
  return [...shown.values()];
}

/** The options that `option-defaults.test.ts` compares with the code: those of all tables. */
export const allOptions = (): Option[] => Object.keys(optionTables).flatMap(listedOptions);

function optionTable(table: string): string {
  const rows = listedOptions(table).map(({ name, meaning, standard, isRequired }) =>
    row(`\`${name}\``, meaning, standard ?? (isRequired && !table.startsWith('limit') ? 'required' : '–')),
  );
  return [row('option', 'meaning', 'default'), row('---', '---', '---'), ...rows].join('\n');
}

/** The members of a turn, methods included, each with its docstring. */
function turnRows(): string {
  const text = readFileSync(join(root, 'packages/server/src/agent/agent.ts'), 'utf8');
  const body = /^export interface Turn {\n([\s\S]*?)^}/m.exec(text)?.[1] ?? '';
  const member = /^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(?:readonly )?(\w+)([:<(])/gm;
  const rows = Array.from(body.matchAll(member), ([, docstring = '', name = '', mark]) => {
    const meaning = docstring.replaceAll(/\s*\n\s*\* ?|\s+/g, ' ').trim();
    return row(`\`turn.${name}${mark === ':' ? '' : '()'}\``, meaning);
  });
  const declared = body.match(/^ {2}(?:readonly )?\w+[:<(]/gm)?.length;
  if (rows.length !== declared) throw new Error('A member of Turn has no docstring');
  return [row('member', 'meaning'), row('---', '---'), ...rows].join('\n');
}

function errorRows(): string {
  const rows = Object.entries(errorTable).map(([reason, error]: [string, ErrorRow]) => {
    const { jsonRpc, http, status, message, domain } = error;
    const from = (domain ?? A2A_DOMAIN) === A2A_DOMAIN ? 'A2A' : 'Baton';
    return row(`\`${reason}\``, String(jsonRpc), String(http), `\`${status}\``, from, message);
  });
  const head = row('reason', 'JSON-RPC', 'HTTP', 'gRPC', 'defined by', 'message');
  return [head, row('---', '---', '---', '---', '---', '---'), ...rows].join('\n');
}

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** The tables that are not of options. */
const written: Readonly<Record<string, () => string>> = { errors: errorRows, turn: turnRows };

/** A page with its tables as the code has them: each between `<!-- table: name -->` and `<!-- end -->`. */
export function withTables(page: string): string {
  return page.replaceAll(
    /(<!-- table: (\w+) -->\n\n)[\s\S]*?(<!-- end -->)/g,
    (_all, start: string, name: string, end: string) =>
      `${start}${written[name]?.() ?? optionTable(name)}\n\n${end}`,
  );
}
