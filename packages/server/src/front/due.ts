import { isSameText } from '@batonjs/protocol/security';
import { toBase64 } from '#bytes';
import { randomText } from '../base/system/new-id.ts';
import { mustBePositive } from '../base/timeouts.ts';
import { type Inside, insideOf } from '../operations/call/inside-of.ts';

/** Who may begin a run over HTTP, and how long it takes. */
interface TickOptions extends Pick<Parameters<Inside['runDue']>[0], 'forMs' | 'signal'> {
  /** What callers sign with, by `signTick` or any program for Standard Webhooks: 16 characters or more. */
  readonly secret: string | undefined;
  /** Whether `Authorization: Bearer` with the secret will do, which the crons of hosts send. It can be sent again at any time. */
  readonly bearer?: boolean | undefined;
}

/** The work that follows the replies of calls. */
interface WaitUntilOptions {
  /** Keeps the process until the work is over: `waitUntil` of `@vercel/functions`, or of the `ctx` of a Worker. */
  readonly waitUntil: (work: Promise<unknown>) => unknown;
  /** How long a call and what follows it may take together, in milliseconds: less than the host gives. */
  readonly maxMs: number;
}

/** Something that `createAgentServer` returned. */
interface Served {
  fetch(request: Request): Promise<Response>;
}

/** For how long before and after its time a signature counts, in milliseconds. */
const toleranceMs = 300_000;

const empty = (status: number): Response => new Response(null, { status });

/**
 * A web handler that calls `runDue` for a signed `POST`, or a `GET` with a bearer token, and answers with what it did. It
 * is 401 for others, before anything is read, 409 for a signature that comes again, and 503 if the store fails. Throws
 * `TypeError` for options that cannot work.
 */
export function tick(server: Served, { secret, bearer, ...options }: TickOptions): Served['fetch'] {
  const { dependencies, runDue } = dueServer('tick', server, options.forMs);
  if (!secret || secret.length < 16) throw new TypeError('`tick.secret` must have 16 characters or more');
  return async ({ method, headers }) => {
    const isBearer = bearer && isSameText(headers.get('authorization') ?? '', `Bearer ${secret}`);
    const signed = isBearer ? undefined : await signedTick(headers, secret, dependencies.clock.now());
    if (!isBearer && !signed) return empty(401);
    if (method !== 'POST' && !(isBearer && method === 'GET')) return empty(405);
    try {
      const run = await runDue(options, { tick: signed });
      return run ? Response.json(run) : empty(409);
    } catch (error) {
      dependencies.report('A run failed', { error });
      return empty(503);
    }
  };
}

/** The headers of one `POST` to `tick`, without a body. `now`: milliseconds since 1970. */
export async function signTick(secret: string, now = Date.now()): Promise<Record<string, string>> {
  const [id, seconds] = [randomText(12), `${Math.floor(now / 1_000)}`];
  const signature = await signatureOf(secret, id, seconds);
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature };
}

/**
 * The web handler of a server that works on all that is due after each call that may have left something, so that a message
 * need not wait for the next run. Throws `TypeError` for options that cannot work.
 */
export function withWaitUntil(server: Served, { waitUntil, maxMs }: WaitUntilOptions): Served['fetch'] {
  const { dependencies, runDue } = dueServer('withWaitUntil', server, maxMs);
  const { clock, report, tasks } = dependencies;
  return async (request) => {
    const [until, before] = [clock.monotonic() + maxMs, tasks.uses];
    const response = await server.fetch(request);
    const forMs = until - clock.monotonic();
    if (tasks.uses > before && forMs > 0)
      waitUntil(runDue({ forMs }, { wholeMs: maxMs }).catch((error) => report('A run failed', { error })));
    return response;
  };
}

function dueServer(by: string, server: object, ms: number): Inside {
  const inside = insideOf(server);
  if (inside?.dependencies.options.run !== 'due')
    throw new TypeError(`\`${by}\` needs a server with \`run: 'due'\``);
  mustBePositive(by, { 'forMs or maxMs': ms });
  return inside;
}

/** The tick that these headers sign; undefined if they do not, or did so too long ago. */
async function signedTick(headers: Headers, secret: string, now: number) {
  const [id, seconds, given] = ['id', 'timestamp', 'signature'].map(
    (name) => headers.get(`webhook-${name}`) ?? '',
  );
  const at = Number(seconds) * 1_000;
  const isKeepable = /^[!-~]{1,64}$/.test(id!) && given!.length <= 500;
  if (!isKeepable || !(Math.abs(now - at) <= toleranceMs)) return undefined;
  const wanted = await signatureOf(secret, id!, seconds!);
  return given!.split(' ').some((one) => isSameText(one, wanted))
    ? ([id!, at + toleranceMs] as const)
    : undefined;
}

/** The HMAC of an empty body. */
async function signatureOf(secret: string, id: string, seconds: string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign']);
  return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(`${id}.${seconds}.`))))}`;
}
