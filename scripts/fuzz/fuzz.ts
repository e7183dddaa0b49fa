import { seeded } from '../workload/random.ts';
import { grpcRoad } from './grpc/grpc-road.ts';
import { httpRoad } from './http-road.ts';
import { knownOf } from './known.ts';
import type { Road, Told } from './road.ts';
import { type Served, type StoreName, serve } from './served.ts';
import type { Known } from './valid-request.ts';
import { webSocketRoad } from './websocket/websocket-road.ts';

export type BindingName = 'JSONRPC' | 'HTTP+JSON' | 'GRPC' | 'WebSocket';

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
  /** How many outcomes there were of each kind: statuses, over gRPC by their names, over WebSocket codes, `closed`, `left`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Bytes of heap after each rest. */
  readonly heap: readonly number[];
  /** Bytes by which the last rests are above the first ones; undefined if there were too few. */
  readonly grownBytes: number | undefined;
}

/** Growth that is noise: caches fill, code is compiled. */
const mostGrowth = 4 * 1024 * 1024;
const atOnce = 8;
/** After so many requests the tasks that they refer to are made again, because tasks end. */
const knownFor = 200;
const mostFailures = 20;

/** Sends mutated requests to a server of its own, and checks every reply. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { requests, from, restEvery = 2_500 } = options;
  const served = await serve(options.store);
  const road = roadTo(served, options);
  const failures: Failure[] = [];
  const outcomes: Record<string, number> = {};
  const heap: number[] = [];
  try {
    for (let first = from; first < from + requests && failures.length < mostFailures; first += restEvery) {
      const last = Math.min(first + restEvery, from + requests);
      await round({ ...options, served, road, first, last, failures, outcomes });
      await served.rest().then(({ heapBytes, trouble }) => {
        heap.push(heapBytes);
        failures.push(...trouble.map((message) => ({ message: `Between ${first} and ${last}: ${message}` })));
      });
      options.onProgress?.(last - from);
    }
    await whileClosing({ ...options, served, road, failures, outcomes });
  } finally {
    road.close();
    await served.stop();
  }
  const grownBytes = growthOf(heap);
  if (grownBytes !== undefined && grownBytes > mostGrowth)
    failures.push({ message: `The heap grew by ${grownBytes} bytes: ${heap.join(', ')}` });
  return { requests, failures, outcomes, heap, grownBytes };
}

function roadTo(served: Served, { binding, hungMs = 30_000 }: FuzzOptions): Road {
  if (binding === 'GRPC') return grpcRoad(served, hungMs);
  if (binding === 'WebSocket') return webSocketRoad(served, hungMs);
  return httpRoad(binding, served, hungMs);
}

interface Run extends FuzzOptions {
  readonly served: Served;
  readonly road: Road;
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

async function one(run: Run, number: number, known: Known): Promise<void> {
  const { seed, binding, store, road } = run;
  // The same for the same seed, but for the ids that the server made.
  const told = await road.sendMutated(seeded(`${seed}/${number}`), known);
  count(run, told.kind);
  const { message, request } = told;
  if (message === undefined) return;
  const replay = `pnpm fuzz --binding ${binding} --store ${store} --seed ${seed} --from ${number} --requests 1`;
  run.failures.push({ message, request: short(request), replay });
}

/** A server that closes refuses what comes, in words, and with UNAVAILABLE and nothing else. */
async function whileClosing(run: Run): Promise<void> {
  const known = await knownOf(run.served);
  const { closed } = await run.served.close();
  const random = seeded(run.seed);
  for (let n = 0; n < 20; n++) {
    const told: Told = await run.road.sendValid(random, known);
    count(run, told.isUnavailable ? `${told.kind} while closing` : 'while closing');
    const message = told.isUnavailable ? undefined : told.message;
    if (message) run.failures.push({ message: `While closing: ${message}`, request: short(told.request) });
  }
  const { trouble } = await closed;
  run.failures.push(...trouble.map((message) => ({ message: `While closing: ${message}` })));
}

const count = ({ outcomes }: Run, kind: string): void => {
  outcomes[kind] = (outcomes[kind] ?? 0) + 1;
};

const short = (text: string): string =>
  text.length > 3_000 ? `${text.slice(0, 3_000)}… (${text.length} characters)` : text;

/** The lowest of the last rests against the lowest after warming up. */
function growthOf(heap: readonly number[]): number | undefined {
  if (heap.length < 8) return undefined;
  return Math.min(...heap.slice(-3)) - Math.min(...heap.slice(2, 5));
}
