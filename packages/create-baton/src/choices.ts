/** What a project can be. The first of each is the default. */
export const stores = {
  sqlite: 'a SQLite file: survives the process, nothing to run',
  memory: 'this process: for trying things out',
  redis: 'Redis: many machines',
  postgres: 'PostgreSQL: many machines',
} as const;
export type Store = keyof typeof stores;

/** The oldest Node.js that runs a project: that of the packages in it. */
export const oldestNode = '22.19';

/** Whether this Node.js, such as `22.20.0`, runs a project. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
  return major > oldest || (major === oldest && minor >= oldestMinor);
}

/** The kinds of agent. */
export const templates = {
  plain: 'asks, works, gives an artifact',
  streaming: 'streams the answer of a language model',
  chat: 'the same, with a page in React to talk with it',
  next: 'the same in an app of Next.js, with sessions in cookies',
  'ai-sdk': 'a model and its tools, with the AI SDK',
  express: 'the plain one in an app of Express, with API keys and webhooks',
} as const;
export type Template = keyof typeof templates;

/** Hosts that keep no process. A project without one has a process that stays. */
export const hosts = {
  vercel: 'functions of Vercel, and a cron',
  lambda: 'AWS Lambda: a function URL that streams, and a schedule',
  cloudflare: 'a Durable Object of Cloudflare, with its SQLite and its alarm',
} as const;
export type Host = keyof typeof hosts;

export interface Project {
  /** The name of a folder in the working folder, or `.`. */
  readonly folder: string;
  readonly store: Store;
  readonly template: Template;
  readonly host?: Host | undefined;
}

const functions = ['plain', 'streaming', 'ai-sdk'] as const;

/** What goes with a host. A function takes its memory and its files with it; only Next.js has a page there. */
const fitting: Readonly<Record<Host, { stores: readonly Store[]; templates: readonly Template[] }>> = {
  vercel: { stores: ['postgres', 'redis'], templates: [...functions, 'next'] },
  lambda: { stores: ['postgres', 'redis'], templates: functions },
  cloudflare: { stores: ['sqlite'], templates: functions },
};

/** The stores and the kinds of agent that go with a host: all without one. */
export function choicesOn(host: Host | undefined) {
  const only = <Name extends string>(all: Readonly<Record<Name, string>>, names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, all[name]])) as Partial<Record<Name, string>>;
  const fits = host && fitting[host];
  return fits
    ? { stores: only(stores, fits.stores), templates: only(templates, fits.templates) }
    : { stores, templates };
}

/** Tells people what they gave is wrong. Nothing was written. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** One of the names of a choice. Throws an `InputError` that lists them. */
export function chosen<Name extends string>(
  what: string,
  name: string,
  from: Readonly<Partial<Record<Name, string>>>,
): Name {
  if (Object.hasOwn(from, name)) return name as Name;
  throw new InputError(`${what} is one of ${Object.keys(from).join(', ')}, not "${name}"`);
}
