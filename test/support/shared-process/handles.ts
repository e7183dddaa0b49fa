import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { Server } from 'node:net';
import { join, sep } from 'node:path';
import { root } from '../../repository/source-files.ts';

/** What Node.js calls that which keeps a resource of the machine, and what a reader calls it. */
const kinds: Readonly<Record<string, string>> = {
  TCPSERVERWRAP: 'a server that listens on a port',
  PIPESERVERWRAP: 'a server that listens on a path',
  TCPWRAP: 'a connection',
  PIPEWRAP: 'a pipe',
  UDPWRAP: 'a UDP socket',
  PROCESSWRAP: 'a child process',
  WORKER: 'a thread',
  FSEVENTWRAP: 'a watched file',
  STATWATCHER: 'a watched file',
  Timeout: 'a timer',
};

/** How many frames are kept: those of Node.js come first, and a library may stand between them and the test. */
const frames = { Timeout: 12, others: 40 };

interface Place {
  readonly stack?: string;
}

interface Opened {
  readonly type: string;
  readonly at: Place;
  /** Where `listen` was called: Node.js looks the host up first. */
  readonly before: Place | undefined;
  readonly handle: WeakRef<object>;
}

/** What is open, by its id: what it is, and the place where it was opened. */
const open = new Map<number, Opened>();

const lasting = new AsyncLocalStorage<boolean>();

/** What files share and none of them closes: it ends with the process. */
export const lastsAsProcess = <T>(open: () => T): T => lasting.run(true, open);

const listening = new AsyncLocalStorage<Place>();
const { listen } = Server.prototype;
Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  const at: Place = {};
  Error.captureStackTrace(at, Server.prototype.listen);
  return listening.run(at, () => Reflect.apply(listen, this, args));
};

function init(id: number, type: string, _trigger: number, handle: object): void {
  if (!(type in kinds) || lasting.getStore()) return;
  const at: Place = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = type === 'Timeout' ? frames.Timeout : frames.others;
  // Costs little until the text is read, which happens only for what is left.
  Error.captureStackTrace(at, init);
  Error.stackTraceLimit = limit;
  open.set(id, { type, at, before: listening.getStore(), handle: new WeakRef(handle) });
}

createHook({
  init,
  destroy: (id) => void open.delete(id),
  // The hook would otherwise slow down each promise.
  trackPromises: false,
} as Parameters<typeof createHook>[0]).enable();

/** Forgets what is open now: what is counted from here on belongs to the file that begins. */
export const forgetHandles = (): void => open.clear();

/** What is left open at the end of a file. Each place is reported once in a process. */
export function reportHandles(): Error[] {
  const left = openHandles();
  for (const { stack = '' } of left) reported.add(placeOf(stack));
  open.clear();
  return left;
}

/** What was opened since and is still open, as errors whose stacks say where it was opened. */
export function openHandles(): Error[] {
  return [...open.values()].flatMap(({ type, at, before, handle }) => {
    const lines = [...linesOf(at), ...linesOf(before)];
    if (isClosed(handle) || !isOfTests(type, lines)) return [];
    const error = new Error(`The file leaves ${kinds[type]} open, which it opened here.`);
    error.stack = [`${error.name}: ${error.message}`, ...lines].join('\n');
    return reported.has(placeOf(error.stack)) ? [] : [error];
  });
}

/** Node.js does not say of each connection that it is gone: one that TLS took over is closed with it. */
function isClosed(handle: WeakRef<object>): boolean {
  const { fd = 0 } = (handle.deref() ?? { fd: -1 }) as { fd?: number };
  return fd < 0;
}

const linesOf = (place: Place | undefined): string[] => (place?.stack ?? '').split('\n').slice(1);

const repository = `${root}${sep}`;
const checker = join(import.meta.dirname, 'check.ts');
const isOfNode = (line: string): boolean => line.includes('node:') || !line.includes(sep);
const isOfStarters = (line: string): boolean => /node:(internal\/)?(timers|async_hooks)/.test(line);
const isOfLibrary = (line: string): boolean => line.includes(`${sep}node_modules${sep}`);
/**
 * What lasts as long as the process: of the test runner, of the compiler of bundles, and the connections of the gRPC client,
 * whose library keeps those where TLS failed.
 */
const isOfLasting = (line: string): boolean =>
  /node_modules\/((@vitest|vitest|vite|esbuild)\/|@grpc\/grpc-js\/.*\/transport\.)/.test(line);

/**
 * Timers that end by themselves: of a server, which waits once more after there is nothing to look after, and of a stream
 * that a client no longer reads.
 */
const endsByItself = (line: string): boolean =>
  /\/(deadline-timers|heartbeat|hold-process|stall-watch|call-deadline)\.ts/.test(line);

/** Where something was opened that was reported: it may go on in files that come later, which are not to blame. */
const reported = new Set<string>();

/** Of a stack what is the same in each round of a loop: who began it is there in the first round only. */
const placeOf = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => line.includes(repository))
    .slice(0, 3)
    .join('\n') || stack;

/**
 * A timer counts where a file of the repository started it itself: libraries and Node.js keep timers for their connections,
 * and those connections count. Other things count
 * unless they last as long as the process, or a server took them: that server counts.
 */
function isOfTests(type: string, lines: readonly string[]): boolean {
  // The streams of the process itself, which Node.js opens when they are first used.
  if (lines.some((line) => line.includes('node:internal/bootstrap/'))) return false;
  if (type === 'Timeout') {
    if (lines.some(endsByItself)) return false;
    const starter = lines.find((line) => !isOfStarters(line)) ?? '';
    return starter.includes(repository) && !isOfLibrary(starter) && !starter.includes(checker);
  }
  const opener = lines.find((line) => !isOfNode(line));
  return opener === undefined ? lines.length > 1 : !isOfLasting(opener);
}
