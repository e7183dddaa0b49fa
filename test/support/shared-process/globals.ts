/** What all files of a process share, by the name that a reader knows it by. */
const shared: Readonly<Record<string, object>> = {
  globalThis,
  console,
  crypto,
  Date,
  JSON,
  Math,
  performance,
  'Performance.prototype': Performance.prototype,
  process,
  'process.stderr': process.stderr,
  'process.stdout': process.stdout,
};

/** Whether all files of a process share the object. What is printed may be watched: no behaviour goes by it. */
export const isShared = (object: object): boolean =>
  object !== console && Object.values(shared).includes(object);

const events = ['SIGHUP', 'SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection', 'warning'];

/** Playwright replaces them by others that do the same. */
const replaced = ['chdir', 'cwd'];

/** The test runner notes the state of a file in the first; Node.js notes its own in the others. */
const isPrivate = (key: string): boolean =>
  key.startsWith('__vitest') || key.startsWith('_') || replaced.includes(key);

type Properties = ReadonlyMap<string, PropertyDescriptor>;

/** What all files of a process share, at one moment. */
export interface Globals {
  readonly objects: ReadonlyMap<string, Properties>;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  readonly listeners: ReadonlyMap<string, readonly unknown[]>;
}

const propertiesOf = (object: object): Properties =>
  new Map(
    Object.entries(Object.getOwnPropertyDescriptors(object)).filter(
      ([key, { value }]) => !isPrivate(key) && (object === globalThis || typeof value === 'function'),
    ),
  );

export const readGlobals = (): Globals => ({
  objects: new Map(Object.entries(shared).map(([name, object]) => [name, propertiesOf(object)])),
  env: { ...process.env },
  cwd: process.cwd(),
  listeners: new Map(events.map((event) => [event, process.rawListeners(event)])),
});

/** Puts back what is different from that moment, and says what was. */
export function restoreGlobals(before: Globals): string[] {
  return [
    ...Object.entries(shared).flatMap(([name, object]) =>
      restoreObject(name, object, before.objects.get(name)!),
    ),
    ...restoreEnvironment(before.env),
    ...restoreFolder(before.cwd),
    ...events.flatMap((event) => restoreListeners(event, before.listeners.get(event)!)),
  ];
}

function restoreObject(name: string, object: object, before: Properties): string[] {
  const now = propertiesOf(object);
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((key) =>
    isChanged(before.get(key), now.get(key)),
  );
  for (const key of changed) {
    const was = before.get(key);
    if (was) Object.defineProperty(object, key, was);
    else Reflect.deleteProperty(object, key);
  }
  return changed.map((key) => (name === 'globalThis' ? key : `${name}.${key}`));
}

function isChanged(was: PropertyDescriptor | undefined, is: PropertyDescriptor | undefined): boolean {
  // Node.js loads some of its globals when they are first read, and puts the value in place of the getter.
  if (was?.get && is && !is.get) return false;
  return !Object.is(was?.value, is?.value) || was?.get !== is?.get;
}

function restoreEnvironment(before: Readonly<NodeJS.ProcessEnv>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => before[name] !== process.env[name]);
  for (const name of changed) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  return changed.map((name) => `process.env.${name}`);
}

function restoreFolder(before: string): string[] {
  if (process.cwd() === before) return [];
  process.chdir(before);
  return ['process.cwd()'];
}

function restoreListeners(event: string, before: readonly unknown[]): string[] {
  const added = process.rawListeners(event).filter((listener) => !before.includes(listener));
  for (const listener of added) process.off(event, listener as () => void);
  return added.map(() => `process.on('${event}')`);
}
