import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ClientCompatibility, parseAnswer } from '@batonjs/bindings';
import { remember } from '@batonjs/protocol/bounded-map';
import { A2A_JSON, DELIVERY_ID, JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { guardHook } from '@batonjs/protocol/hooks';
import { chunksOf, readText } from '@batonjs/protocol/json';
import type { AgentEvent } from '../replies/agent-reply.ts';
import { checkEvent } from '../replies/check-reply.ts';
import { genuineDelivery, type WebhookDelivery, type WebhookSecrets } from './genuine-delivery.ts';

export type { WebhookDelivery, WebhookSecrets };

/** Options of a receiver. At least one of `token`, `authentication` and `verify` is required. */
export interface WebhookReceiverOptions extends WebhookSecrets {
  /** Whether the receiver expects events of this task. Others are refused with 404. Spec: §4.3.3. */
  readonly expects: (taskId: string) => boolean | Promise<boolean>;
  /** Called once for every event, in the order of arrival. If it rejects, the agent sends the event again. */
  readonly onEvent: (event: AgentEvent, delivery: WebhookDelivery) => unknown;
  /** Remembers handled deliveries. Default: the latest 10,000 of this process. */
  readonly seen?: SeenDeliveries | undefined;
  /** The maximum size of one delivery in bytes. Default 16 MiB. */
  readonly maxBytes?: number | undefined;
  /** Other protocol versions to accept besides 1.0, such as `v03Client()` of `@batonjs/bindings-v0-3`. */
  readonly compatibility?: readonly Pick<ClientCompatibility, 'decodePush'>[] | undefined;
  /** Receives the errors of `onEvent`, `seen` and `expects`. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Answers the deliveries of an agent. */
export interface WebhookReceiver {
  /** A handler of web-standard requests. */
  fetch(request: Request): Promise<Response>;
  /** A handler for Node.js and Express. Mount it before `express.json()`, which loses the text that a signature covers. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * Creates the receiver of a webhook. It checks the sender and the task of each delivery, passes each event on once, and
 * answers so that the agent retries only what may succeed later. Throws `TypeError` unless at least one of `token`,
 * `authentication` and `verify` is given. Spec: §4.3.3, §13.2.
 */
export function webhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const { expects, onEvent, seen = seenDeliveries() } = options;
  const { maxBytes = 0x1000000, compatibility = [] } = options;
  const onError = guardHook('onError', options.onError ?? console.error);
  const isGenuine = genuineDelivery(options);
  const underway = new Map<string, Promise<number>>();

  /** Handles a delivery and resolves to the HTTP status of the answer. */
  async function receive(
    method = '',
    headers: WebhookDelivery['headers'],
    read: () => Promise<string | undefined>,
  ) {
    if (method !== 'POST') return 405;
    const type = mediaTypeOf(headers.get('content-type'));
    if (type !== A2A_JSON && type !== JSON_TYPE) return 415;
    if (!(await isGenuine.byHeaders(headers))) return 401;
    const body = await read().catch(() => '');
    if (body === undefined) return 413;
    const event = parse(body, compatibility);
    const taskId = event && taskIdOf(event);
    if (!taskId) return 400;
    const id = headers.get(DELIVERY_ID) ?? undefined;
    const delivery = { taskId, id, headers, body };
    try {
      if (!(await isGenuine.byAll(delivery))) return 401;
      if (!(await expects(taskId))) return 404;
      if (id === undefined) return await handOver(event, delivery);
      // An attempt that arrives while an earlier one is still being handled gets the same answer.
      const same = underway.get(id) ?? handOver(event, delivery).finally(() => underway.delete(id));
      underway.set(id, same);
      return await same;
    } catch (error) {
      onError(error);
      return 500;
    }
  }

  async function handOver(event: AgentEvent, delivery: WebhookDelivery): Promise<number> {
    if (delivery.id !== undefined && (await seen.has(delivery.id))) return 200;
    await onEvent(event, delivery);
    if (delivery.id !== undefined) await seen.add(delivery.id);
    return 200;
  }

  return {
    async fetch(request) {
      const { method, headers } = request;
      const status = await receive(method, headers, () => readText(chunksOf(request.body), maxBytes, true));
      return new Response(null, { status, headers: status === 405 ? { allow: 'POST' } : {} });
    },
    async handle(request, response) {
      const headers = { get: (name: string) => request.headers[name.toLowerCase()]?.toString() ?? null };
      const parsed = 'body' in request ? request.body : undefined;
      const read = async () =>
        parsed === undefined
          ? readText(request.iterator({ destroyOnReturn: false }), maxBytes, true)
          : toText(parsed);
      const status = await receive(request.method, headers, read);
      // Without closing, the unread rest of the body would be parsed as the next request.
      response.writeHead(status, {
        ...(status === 405 && { allow: 'POST' }),
        ...(status === 413 && { connection: 'close' }),
      });
      response.end();
    },
  };
}

const toText = (parsed: unknown): string =>
  typeof parsed === 'string'
    ? parsed
    : parsed instanceof Uint8Array
      ? new TextDecoder().decode(parsed)
      : JSON.stringify(parsed);

function parse(
  body: string,
  compatibility: NonNullable<WebhookReceiverOptions['compatibility']>,
): AgentEvent | undefined {
  try {
    const json = parseAnswer(body);
    for (const other of compatibility) {
      const event = other.decodePush(json);
      if (event) return event as AgentEvent;
    }
    return checkEvent(json) as AgentEvent;
  } catch {
    return undefined;
  }
}

/**
 * The task of an event; undefined unless the event has exactly one member, or `expects` could be asked about another
 * task. Spec: §3.2.3.
 */
function taskIdOf({ task, statusUpdate, artifactUpdate, message }: AgentEvent): string | undefined {
  const members = [task, statusUpdate, artifactUpdate, message].filter(Boolean);
  const id: unknown = task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? message?.taskId;
  return members.length === 1 && typeof id === 'string' && id !== '' ? id : undefined;
}

/** Remembers the ids of handled deliveries. Several receiving processes need an implementation that they share. */
export interface SeenDeliveries {
  has(id: string): boolean | Promise<boolean>;
  add(id: string): void | Promise<void>;
}

/** Remembers the latest `limit` deliveries in the memory of this process. */
export function seenDeliveries(limit = 10_000): SeenDeliveries {
  const seen = new Map<string, true>();
  return {
    has: (id) => seen.has(id),
    add(id) {
      remember(seen, id, true, limit);
    },
  };
}
