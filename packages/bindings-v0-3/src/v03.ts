import type { ClientCompatibility, HttpRequest, PushFormat, ServerCompatibility } from '@batonjs/bindings';
import { JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isOperationName } from '@batonjs/protocol/operations';
import { type HttpJsonStyle, httpJsonClient03, httpJsonServer03 } from './http/http-json.ts';
import { jsonRpcClient03, jsonRpcServer03 } from './http/json-rpc.ts';
import { spellEvent } from './http/spelling.ts';
import { bothCards, downCard, isV03, upCard, V03 } from './translation/agent-card.ts';
import type { FileBytes } from './translation/files.ts';
import { downEvent, upEvent } from './translation/task.ts';
import { lossReporter, type OnLoss, type ReportLoss } from './wire/loss.ts';
import type { V03AgentCard, V03Event } from './wire/objects.ts';
import { isObject } from './wire/shape.ts';

/** How a server speaks A2A 0.3. */
export interface V03Options {
  /**
   * Whether the server accepts other spellings than the specification's: `message.send`, parts without `kind` or with
   * `type`, `fileWithBytes`, messages without `messageId`. Default false.
   */
  readonly lenient?: boolean;
  /**
   * Whether a request without a version whose method or path is one of 1.0 (`SendMessage`, `/message:send`) is taken for one.
   * Default: as `lenient`. By the specification it is one of 0.3.
   */
  readonly inferVersion?: boolean;
  /**
   * The card for requests without a version: the `superset` that readers of both versions understand (default), or that of
   * 0.3 alone. Neither has signatures. A request with the version 1.0 gets the signed card.
   */
  readonly card?: 'superset' | 'plain';
  /**
   * The style of answers on HTTP+JSON if the request has none: the JSON of the protocol buffers (`proto`, default) or that
   * of JSON-RPC (`kind`). False serves only JSON-RPC.
   */
  readonly httpJson?: HttpJsonStyle | false;
  /**
   * What clients write for the bytes of files in the JSON of the protocol buffers: the `bytes`, or their base64 text
   * (`base64`), as the SDKs for Python and Go do. By default, their `User-Agent` tells.
   */
  readonly files?: FileBytes;
  readonly onLoss?: OnLoss;
}

/** Makes a server speak A2A 0.3 besides 1.0: `createAgentServer({ …, compatibility: [v03()] })`. */
export function v03({
  lenient = false,
  inferVersion = lenient,
  card = 'superset',
  httpJson = 'proto',
  files,
  onLoss,
}: V03Options = {}): ServerCompatibility {
  const report = lossReporter(onLoss);
  return {
    bindings: [
      jsonRpcServer03(report, lenient),
      ...(httpJson ? [httpJsonServer03(report, { style: httpJson, isLenient: lenient, files })] : []),
    ],
    pushFormat: pushFormat(report),
    impliedVersion: (request) => (inferVersion && looksNewer(request) ? PROTOCOL_VERSION : undefined),
    encodeCard(newer, version) {
      if ((version ?? V03) !== V03 || !newer.supportedInterfaces.some(isV03)) return undefined;
      const encode = version === undefined && card === 'superset' ? bothCards : downCard;
      return encode(newer, report, '');
    },
  };
}

/** Webhooks of 0.3 get the event without a wrapper. */
const pushFormat = (report: ReportLoss): PushFormat => ({
  version: V03,
  mediaType: JSON_TYPE,
  encode: (event) => JSON.stringify(downEvent(event, report, '')),
});

function looksNewer({ path, body }: HttpRequest): boolean {
  if (path !== '' && path !== '/') return !/^\/v1(\/|$)/.test(path);
  try {
    const envelope = body?.json();
    return isObject(envelope) && isOperationName(String(envelope.method));
  } catch {
    return false;
  }
}

/** How a client speaks A2A 0.3. */
export interface V03ClientOptions {
  /**
   * What the agent reads for the bytes of files on HTTP+JSON: the `bytes`, as the proto has them (default), or their base64
   * text (`base64`), as the SDKs for Python and Go do. Files of agents are read in both forms.
   */
  readonly files?: FileBytes;
  readonly onLoss?: OnLoss;
}

/** Makes a client speak A2A 0.3 besides 1.0: `connect(url, { compatibility: [v03Client()] })`. */
export function v03Client({ files, onLoss }: V03ClientOptions = {}): ClientCompatibility {
  const report = lossReporter(onLoss);
  return {
    bindings: [jsonRpcClient03(report), httpJsonClient03(report, files)],
    decodeCard: (json) => decodeCard(json, report),
    decodePush: (json) => decodePush(json, report),
  };
}

/** An event with its `kind`, or with the members of one kind. Undefined for an event in a wrapper, which is one of 1.0. */
function decodePush(json: unknown, report: ReportLoss) {
  const event =
    isObject(json) && !wrappers.some((name) => isObject(json[name])) ? spellEvent(json) : undefined;
  if (!isObject(event) || typeof event.kind !== 'string') return undefined;
  try {
    return upEvent(event as unknown as V03Event, report, '');
  } catch {
    return undefined;
  }
}

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** A card of 0.3, unless it is one of 1.0 too. */
function decodeCard(json: unknown, report: ReportLoss) {
  if (!isObject(json) || typeof json.url !== 'string') return undefined;
  if (Array.isArray(json.supportedInterfaces) && json.supportedInterfaces.length > 0) return undefined;
  const { supportsExtendedAgentCard: draft, supportsAuthenticatedExtendedCard = draft, ...card } = json;
  try {
    return upCard({ ...card, supportsAuthenticatedExtendedCard } as unknown as V03AgentCard, report, '');
  } catch {
    return undefined;
  }
}
