import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientCompatibility } from '@batonjs/bindings';
import { A2A_JSON, DELIVERY_ID, JSON_TYPE } from '@batonjs/protocol/headers';
import type { AgentEvent } from '../replies/agent-reply.ts';
import { asEvent } from '../replies/check-reply.ts';
import { readBody } from './delivery-text.ts';
import { genuineDelivery, type WebhookDelivery, type WebhookSecrets } from './genuine-delivery.ts';
import { type SeenDeliveries, seenDeliveries } from './seen-deliveries.ts';

export { type SeenDeliveries, seenDeliveries, type WebhookDelivery, type WebhookSecrets };

/** What a receiver goes by. At least one of `token`, `authentication` and `verify` is needed. */
export interface WebhookReceiverOptions extends WebhookSecrets {
  /** Whether this is a task of ours. Everything else is refused. Spec: §4.3.3. */
  readonly expects: (taskId: string) => boolean | Promise<boolean>;
  /** Told every event once, in the order in which they arrive. A rejection makes the agent send the event again. */
  readonly onEvent: (event: AgentEvent, delivery: WebhookDelivery) => unknown;
  /** What was dealt with already. Default: the latest 10,000 deliveries of this process. */
  readonly seen?: SeenDeliveries;
  /** Bytes of one delivery. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Other versions of the protocol that agents may deliver in besides 1.0, such as `v03Client()` of `@batonjs/bindings-v0-3`. */
  readonly compatibility?: readonly Pick<ClientCompatibility, 'decodePush'>[];
  /** Sees why `onEvent`, `seen` or `expects` failed. Default: standard error. */
  readonly onError?: (error: unknown) => void;
}

/** What answers an agent's deliveries. */
export interface WebhookReceiver {
  /** As a web-standard handler. */
  fetch(request: Request): Promise<Response>;
  /** As a handler of Node.js or Express; before `express.json()`, or a signature over the body may not fit any more. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * Receives what an agent posts to a webhook: checks who sent it and whether the task is expected, hands over each event
 * once, and answers so that the agent tries again only what may succeed. Throws `TypeError` without a way to tell who
 * sends. Spec: §4.3.3, §13.2.
 */
export function webhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const { expects, onEvent, seen = seenDeliveries() } = options;
  const { maxBytes = 0x1000000, onError = console.error, compatibility = [] } = options;
  const isGenuine = genuineDelivery(options);
  const underway = new Map<string, Promise<number>>();

  /** The status to answer with. */
  async function receive(
    method = '',
    headers: WebhookDelivery['headers'],
    read: () => Promise<string | undefined>,
  ) {
    if (method !== 'POST') return 405;
    const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
    if (type !== A2A_JSON && type !== JSON_TYPE) return 415;
    const body = await read().catch(() => '');
    if (body === undefined) return 413;
    const event = parse(body, compatibility);
    const taskId = event && taskIdOf(event);
    if (!taskId) return 400;
    const id = headers.get(DELIVERY_ID) ?? undefined;
    const delivery = { taskId, id, headers, body };
    try {
      if (!(await isGenuine(delivery))) return 401;
      if (!(await expects(taskId))) return 404;
      if (id === undefined) return await handOver(event, delivery);
      // Sent again while it is still being dealt with: both get the same answer.
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
      const status = await receive(method, headers, () => readBody(request.body ?? [], maxBytes));
      return new Response(null, { status, headers: status === 405 ? { allow: 'POST' } : {} });
    },
    async handle(request, response) {
      const headers = { get: (name: string) => request.headers[name.toLowerCase()]?.toString() ?? null };
      const parsed = 'body' in request ? request.body : undefined;
      const read = async () =>
        parsed === undefined
          ? readBody(request.iterator({ destroyOnReturn: false }), maxBytes)
          : toText(parsed);
      const status = await receive(request.method, headers, read);
      // What was not read of the body would be taken for the next request.
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
    const json: unknown = JSON.parse(body);
    for (const other of compatibility) {
      const event = other.decodePush(json);
      if (event) return event as AgentEvent;
    }
    return asEvent(json) as AgentEvent;
  } catch {
    return undefined;
  }
}

/** Undefined unless there is exactly one member: the check of one task must not let in the event of another. Spec: §3.2.3. */
function taskIdOf({ task, statusUpdate, artifactUpdate, message }: AgentEvent): string | undefined {
  const members = [task, statusUpdate, artifactUpdate, message].filter(Boolean);
  const id: unknown = task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? message?.taskId;
  return members.length === 1 && typeof id === 'string' && id !== '' ? id : undefined;
}
