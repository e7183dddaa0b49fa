import { between, seeded } from '../workload/random.ts';
import { checkOutcome } from './check-reply.ts';
import { knownOf } from './known.ts';
import { mutate } from './mutate.ts';
import { bytesOf, type RawRequest } from './request.ts';
import { type Served, type StoreName, serve } from './served.ts';
import { type BindingName, type Known, validRequest } from './valid-request.ts';
import { Wire } from './wire.ts';

export interface FuzzOptions {
  readonly binding: BindingName;
  readonly store: StoreName;
  readonly seed: string;
  /** Number of the first request. */
  readonly from: number;
  readonly requests: number;
  /** Milliseconds in which a reply must come. */
  readonly hungMs?: number;
  /** After how many requests the server rests, so that its memory can be compared. */
  readonly restEvery?: number;
  readonly onProgress?: (sent: number) => void;
}

/** What went wrong, and what to do to see it again. */
export interface Failure {
  readonly message: string;
  /** The request that was answered wrongly, if it was one. */
  readonly request?: string;
  readonly replay?: string;
}

export interface FuzzResult {
  readonly requests: number;
  readonly failures: readonly Failure[];
  /** How many outcomes there were of each kind: statuses, `closed`, `left`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Bytes of heap after each rest. */
  readonly heap: readonly number[];
  /** Bytes by which the last rests are above the first ones; undefined if there were too few. */
  readonly grownBytes: number | undefined;
}

/** Growth that is noise: caches fill, code is compiled. */
const mostGrowth = 4 * 1024 * 1024;
const atOnce = 8;
/** After so many requests the tasks that they refer to are made anew, because tasks end. */
const knownFor = 200;
const mostFailures = 20;

/** Sends mutated requests to a server of its own, and checks every reply. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { requests, from, restEvery = 2_500 } = options;
  const served = await serve(options.store);
  const wires = [served.port, served.parsedPort].map((port) => new Wire(port, options.hungMs ?? 30_000));
  const failures: Failure[] = [];
  const outcomes: Record<string, number> = {};
  const heap: number[] = [];
  try {
    for (let first = from; first < from + requests && failures.length < mostFailures; first += restEvery) {
      const last = Math.min(first + restEvery, from + requests);
      await round({ ...options, served, wires, first, last, failures, outcomes });
      await served.rest().then(({ heapBytes, trouble }) => {
        heap.push(heapBytes);
        failures.push(...trouble.map((message) => ({ message: `Between ${first} and ${last}: ${message}` })));
      });
      options.onProgress?.(last - from);
    }
    await whileClosing({ ...options, served, wires, failures, outcomes });
  } finally {
    for (const wire of wires) wire.close();
    await served.stop();
  }
  const grownBytes = growthOf(heap);
  if (grownBytes !== undefined && grownBytes > mostGrowth)
    failures.push({ message: `The heap grew by ${grownBytes} bytes: ${heap.join(', ')}` });
  return { requests, failures, outcomes, heap, grownBytes };
}

interface Run extends FuzzOptions {
  readonly served: Served;
  readonly wires: readonly Wire[];
  readonly failures: Failure[];
  readonly outcomes: Record<string, number>;
}

async function round(run: Run & { readonly first: number; readonly last: number }): Promise<void> {
  for (let first = run.first; first < run.last; first += knownFor) {
    // It is also the good request that the server must still answer.
    const known = await knownOf(run.served);
    let next = first;
    const end = Math.min(first + knownFor, run.last);
    const worker = async () => {
      while (next < end && run.failures.length < mostFailures) await one(run, next++, known);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }
}

/** The request of a number: the same for the same seed, but for the ids that the server made. */
function requestOf({ seed, binding }: FuzzOptions, number: number, known: Known) {
  const random = seeded(`${seed}/${number}`);
  const valid = validRequest(random, binding, known);
  return { ...mutate(random, valid), operation: valid.operation, way: random() < 0.8 ? 0 : 1 };
}

async function one(run: Run, number: number, known: Known): Promise<void> {
  const { way, ...request } = requestOf(run, number, known);
  const outcome = await run.wires[way]!.send(request);
  count(run, 'reply' in outcome ? String(outcome.reply.status) : outcome.kind);
  const message = await checkOutcome(request, outcome);
  if (message === undefined) return;
  const { seed, binding, store } = run;
  run.failures.push({
    message,
    request: `${request.changes.join(', ')}: ${shown(request)}`,
    replay: `pnpm fuzz --binding ${binding} --store ${store} --seed ${seed} --from ${number} --requests 1`,
  });
}

/** A server that closes refuses what comes, in words, and with 503 and nothing else. */
async function whileClosing(run: Run): Promise<void> {
  const known = await knownOf(run.served);
  const { closed } = await run.served.close();
  const random = seeded(run.seed);
  for (let n = 0; n < 20; n++) {
    const request = validRequest(random, run.binding, known);
    const outcome = await run.wires[between(random, 0, 1)]!.send(request);
    const isRefused =
      'reply' in outcome && outcome.reply.status === 503 && outcome.reply.body.includes('UNAVAILABLE');
    count(run, isRefused ? '503 while closing' : 'while closing');
    const message = isRefused ? undefined : await checkOutcome(request, outcome);
    if (message) run.failures.push({ message: `While closing: ${message}`, request: shown(request) });
  }
  const { trouble } = await closed;
  run.failures.push(...trouble.map((message) => ({ message: `While closing: ${message}` })));
}

const count = ({ outcomes }: Run, kind: string): void => {
  outcomes[kind] = (outcomes[kind] ?? 0) + 1;
};

const shown = (request: RawRequest): string => {
  const text = JSON.stringify(bytesOf(request).toString('latin1'));
  return text.length > 3_000 ? `${text.slice(0, 3_000)}… (${text.length} characters)` : text;
};

/** The lowest of the last rests against the lowest after warming up. */
function growthOf(heap: readonly number[]): number | undefined {
  if (heap.length < 8) return undefined;
  return Math.min(...heap.slice(-3)) - Math.min(...heap.slice(2, 5));
}
