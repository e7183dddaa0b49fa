import type { Call } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, GENERATION, LEGACY_EXTENSIONS, parseExtensions } from '@batonjs/protocol/headers';
import { operations } from '@batonjs/protocol/operations';
import { parseParams } from '@batonjs/protocol/parse-params';
import type { Caller } from '../../agent/caller.ts';
import type { Events } from '../../base/hooks/telemetry.ts';
import { type EventBatch, EventStream } from '../../log/event-stream.ts';
import { type CallContext, scopeOf } from '../../operations/call/call-context.ts';
import type { Dependencies } from '../../operations/call/dependencies.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import { type AnyOperation, service } from '../../operations/operations.ts';
import { checkTenant, type Tenants } from './tenants.ts';

/** What the context of a call is made of, besides the call and its caller. */
export interface CallRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /** As in `CallContext`. */
  readonly baseUrl?: string | undefined;
  /** The position to resume a stream after; the header `last-event-id` if undefined. */
  readonly lastEventId?: string | undefined;
  /** As in `CallContext`. */
  readonly requestId: string;
  /** Whether the request names the coming version, which activates its extension. */
  readonly isPreview?: boolean;
}

/** The answer of an operation. A stream has begun, perhaps without an event: until then an error is no part of it. */
export type Answer =
  | { readonly result: unknown }
  | {
      readonly stream: Events<EventBatch>;
      readonly first: EventBatch | undefined;
      /** The error that clients get for one that the stream rejects with. */
      readonly onError: (error: unknown) => A2AError;
    };

const activation = A2A_EXTENSIONS.toLowerCase();
const olderActivation = LEGACY_EXTENSIONS.toLowerCase();

/** The context of a call in which a request asks for something, with the extensions that its card declares. */
export function contextOf(
  { headers, signal, baseUrl, lastEventId, isPreview, requestId }: CallRequest,
  call: Call | undefined,
  caller: Caller | undefined,
  version: string,
  { card, options }: Dependencies,
  traceparent?: string,
): CallContext {
  const tenant = typeof call?.params.tenant === 'string' ? call.params.tenant : undefined;
  const { extensions: declared } = card.capabilities;
  const requested = declared
    ? parseExtensions(headers[activation], headers[olderActivation], isPreview ? GENERATION : undefined)
    : [];
  return {
    scope: scopeOf(options.queue, tenant, caller),
    caller,
    extensions: requested.filter((uri) => declared?.some((extension) => extension.uri === uri)),
    version,
    signal,
    lastEventId: lastEventId ?? headers['last-event-id'],
    baseUrl,
    requestId,
    ...(traceparent && { traceparent }),
  };
}

/**
 * Performs a call of any binding. Checks, in this order: the capabilities of the card, required extensions, the params,
 * the tenant, and that the server is open. Rejects with the first refusal as an `A2AError`. Spec: §3.3.
 */
export async function performCall(
  call: Call,
  context: CallContext,
  dependencies: Dependencies,
  tenants: Tenants | undefined,
): Promise<Answer> {
  checkCapability(call, dependencies);
  checkExtensions(context, dependencies);
  const { log, isOpen } = dependencies;
  const { operation } = call;
  const { requestId } = context;
  const params = parseParams(operation, call.params);
  if (tenants) await checkTenant(params.tenant, context.caller, tenants);
  if (!dependencies.owners.isOurs) await checkOwner(dependencies);
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  // The function lives as long as a stream does, and must not keep the message that opened it.
  const taskId = taskNamedIn(params);
  const onError = (error: unknown) => toWireError(error, log, { requestId, operation, taskId });
  try {
    const answer = (service[operation] as AnyOperation)(params, context, dependencies);
    if (!(answer instanceof EventStream)) return { result: await answer };
    return { stream: answer, first: await answer.next(), onError };
  } catch (error) {
    throw onError(error);
  }
}

/** Throws `UNAVAILABLE` while the tasks are those of another agent. A store that fails is reported by the operation. */
async function checkOwner({ owners }: Pick<Dependencies, 'owners'>): Promise<void> {
  const refusal = await owners.refusal().catch(() => undefined);
  if (refusal !== undefined)
    throw new A2AError('UNAVAILABLE', 'This agent may not use its tasks: its log says why', {
      retryAfter: 10,
    });
}

/** The error for a version that is not among those that are served. Spec: §3.6.2. */
export function versionNotSupported(requestedVersion: string, supported: readonly string[]): A2AError {
  const supportedVersions = [...new Set(supported)].join(',');
  return new A2AError(
    'VERSION_NOT_SUPPORTED',
    `Version ${requestedVersion} is not supported here; send A2A-Version: ${supportedVersions}`,
    { metadata: { requestedVersion, supportedVersions } },
  );
}

function checkCapability({ operation }: Call, { card }: Dependencies): void {
  const row = operations[operation];
  const capability = 'capability' in row ? row.capability : undefined;
  if (!capability || card.capabilities[capability]) return;
  throw new A2AError(
    capability === 'pushNotifications' ? 'PUSH_NOTIFICATION_NOT_SUPPORTED' : 'UNSUPPORTED_OPERATION',
  );
}

function checkExtensions({ extensions }: CallContext, { card }: Dependencies): void {
  const missing = card.capabilities.extensions?.find(
    ({ uri, required }) => required && !extensions.includes(uri ?? ''),
  );
  if (!missing) return;
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `This agent requires the extension ${missing.uri}`, {
    metadata: { extension: missing.uri },
  });
}

function taskNamedIn(params: object): string | undefined {
  const { taskId, message, id } = params as { taskId?: string; message?: { taskId?: string }; id?: string };
  return taskId ?? message?.taskId ?? id;
}
