import { type Call, SharedJson } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import {
  A2A_EXTENSIONS,
  GENERATION,
  LEGACY_EXTENSIONS,
  PREVIEW_VERSION,
  PROTOCOL_VERSION,
  parseExtensions,
} from '@batonjs/protocol/headers';
import { operations } from '@batonjs/protocol/operations';
import { parseParams } from '@batonjs/protocol/parse-params';
import type { Scope } from '@batonjs/store';
import type { Caller } from '../../agent/caller.ts';
import type { Events, RequestSpan } from '../../base/hooks/telemetry.ts';
import { type EventBatch, EventStream } from '../../log/event-stream.ts';
import { type CallContext, type Dependencies, scopeOf } from '../../operations/call/call-context.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import { checkTenant, type Tenants } from '../../operations/card/tenants.ts';
import { type AnyOperation, service } from '../../operations/operations.ts';
import type { ServerFiles } from '../../turns/files/server-files.ts';
import type { Admission, RequestHead } from './caller-limits.ts';

/** The part of a call that is read before its caller is known, the same over every binding. */
export interface DecodedCall {
  /** The call; undefined where only its caller may know whether it can be read: `readCall` is called then. */
  readonly call?: AskedCall | undefined;
  readonly readCall?: (() => AskedCall) | undefined;
  /** `Major.Minor` of the binding. */
  readonly version: string;
  /** The version that the request names or implies. */
  readonly statedVersion: string;
  /** The versions that could be named instead. */
  readonly servedVersions: readonly string[];
  /** Finds out who calls, and counts it. */
  readonly ask: () => Promise<Caller | undefined>;
  /** The part of the request that tells who calls. */
  readonly head: RequestHead;
  /** Names in lower case. */
  readonly headers: RequestHead['headers'];
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /** As in `CallContext`. */
  readonly baseUrl?: string | undefined;
  /** As in `CallContext`. */
  readonly requestId: string;
  readonly span: RequestSpan | undefined;
}

/** A call, and the position to resume its stream after; that of the header `last-event-id` if undefined. */
export type AskedCall = Call & { readonly lastEventId?: string | undefined };

/** The answer of an operation. A stream has begun, perhaps without an event: until then an error is no part of it. */
export type Answer = {
  /** URIs of the extensions that are active. */
  readonly extensions: readonly string[];
} & (
  | { readonly result: unknown }
  | {
      readonly stream: Events<EventBatch>;
      readonly first: EventBatch | undefined;
      /** The error that clients get for one that the stream rejects with. */
      readonly onError: (error: unknown) => A2AError;
    }
);

/** Calls are answered with these: the agent, its callers and tenants. */
export interface AnsweringParts {
  readonly dependencies: Dependencies;
  readonly admission: Admission;
  readonly tenants: Tenants | undefined;
}

/**
 * Answers a call of any binding, which decoded it and encodes the answer. Rejects with the first refusal of these checks:
 * 1. the caller and how much it asks, the version, whether the call can be read;
 * 2. how many messages the caller sends, the capabilities of the card, required extensions;
 * 3. the params, the tenant, and that the server is open.
 *
 * Spec: §3.3.
 */
export async function answerCall(decoded: DecodedCall, parts: AnsweringParts): Promise<Answer> {
  const { dependencies, admission, tenants } = parts;
  const { logger, isOpen, owners, options } = dependencies;
  const { requestId, version, statedVersion } = decoded;
  const caller = await decoded.ask();
  const isPreview = options.preview && statedVersion === PREVIEW_VERSION;
  if ((isPreview ? PROTOCOL_VERSION : statedVersion) !== version)
    throw versionNotSupported(statedVersion, decoded.servedVersions);
  const call = decoded.call ?? read(decoded);
  const { operation } = call;
  if (admission.limiter) await admission.limiter.call(operation, decoded.head, caller);
  const context = contextOf(decoded, call, caller, isPreview, dependencies);
  const { extensions } = context;
  checkCapability(call, dependencies);
  checkExtensions(context, dependencies);
  const params = parseParams(operation, call.params);
  if (tenants) await checkTenant(params.tenant, caller, tenants);
  if (!owners.isOurs) await checkOwner(dependencies);
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  // The function lives as long as a stream does, and must not keep the message that opened it.
  const taskId = taskNamedIn(params);
  const onError = (error: unknown) => toWireError(error, logger, { requestId, operation, taskId });
  try {
    const answer = (service[operation] as AnyOperation)(params, context, dependencies);
    const { files } = options;
    const { scope } = context;
    if (!(answer instanceof EventStream)) {
      const result = await answer;
      return { extensions, result: files ? (await files.ready()).shown(result, scope) : result };
    }
    const stream = files ? withLinks(answer, files, scope) : answer;
    return { extensions, stream, first: await stream.next(), onError };
  } catch (error) {
    throw onError(error);
  }
}

/** A stream whose events have links to files. */
const withLinks = (stream: EventStream, files: ServerFiles, scope: Scope): Events<EventBatch> => ({
  async next() {
    const batch = await stream.next();
    if (!batch) return undefined;
    await files.ready();
    const events = batch.events.map((one) => {
      const value = files.shown(one.event.value, scope);
      return value === one.event.value ? one : { ...one, event: new SharedJson(value) };
    });
    return { ...batch, events };
  },
  close: () => stream.close(),
});

function read({ readCall, span }: DecodedCall): AskedCall {
  if (!readCall) throw new A2AError('METHOD_NOT_FOUND');
  const call = readCall();
  span?.received(call.params);
  return call;
}

const activation = A2A_EXTENSIONS.toLowerCase();
const olderActivation = LEGACY_EXTENSIONS.toLowerCase();

/** The context of a call, with the extensions that it asks for and the card declares. */
function contextOf(
  { headers, signal, baseUrl, requestId, version, span }: DecodedCall,
  { params, lastEventId }: AskedCall,
  caller: Caller | undefined,
  isPreview: boolean,
  { card, options }: Dependencies,
): CallContext {
  const tenant = typeof params.tenant === 'string' ? params.tenant : undefined;
  const { extensions: declared } = card.capabilities;
  const requested = declared
    ? parseExtensions(headers[activation], headers[olderActivation], isPreview ? GENERATION : undefined)
    : [];
  const traceparent = span?.traceparent;
  const isOffered = (uri: string) =>
    declared?.some((extension) => extension.uri === uri) === true &&
    // 0.3 has no members for what it shows.
    (version === PROTOCOL_VERSION || uri !== GENERATION);
  return {
    scope: scopeOf(options.queue, tenant, caller),
    caller,
    extensions: requested.filter(isOffered),
    version,
    signal,
    lastEventId: lastEventId ?? headers['last-event-id'],
    baseUrl,
    requestId,
    ...(traceparent && { traceparent }),
  };
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
function versionNotSupported(requestedVersion: string, supported: readonly string[]): A2AError {
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
