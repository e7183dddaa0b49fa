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

/** A project to write. */
export interface Project {
  /** The name of a folder in the working folder, or `.`. */
  readonly folder: string;
  readonly store: Store;
  readonly template: Template;
}

/** Tells people what they gave is wrong. Nothing was written. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** One of the names of a choice. Throws an `InputError` that lists them. */
export function chosen<Name extends string>(
  what: string,
  name: string,
  from: Readonly<Record<Name, string>>,
): Name {
  if (Object.hasOwn(from, name)) return name as Name;
  throw new InputError(`${what} is one of ${Object.keys(from).join(', ')}, not "${name}"`);
}
