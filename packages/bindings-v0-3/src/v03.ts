import type { ClientCompatibility, HttpRequest, PushFormat, ServerCompatibility } from '@batonjs/bindings';
import { JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isObject } from '@batonjs/protocol/json';
import { isOperationName } from '@batonjs/protocol/operations';
import { type HttpJsonStyle, httpJsonClient03, httpJsonServer03 } from './http/http-json.ts';
import { jsonRpcClient03, jsonRpcServer03 } from './http/json-rpc.ts';
import { bodyOf } from './http/operations.ts';
import { bothCards, card as cardCodec, isV03, V03 } from './translation/security.ts';
import { event as eventCodec } from './translation/translations.ts';
import type { FileBytes } from './wire/codec.ts';
import { lossReporter, type OnLoss, type ReportLoss } from './wire/loss.ts';

/** How a server speaks A2A 0.3. */
export interface V03Options {
  /**
   * Whether the server accepts other spellings than the specification's: `message.send`, parts without `kind` or with
   * `type`, `fileWithBytes`, messages without `messageId`. Default false.
   */
  readonly lenient?: boolean | undefined;
  /**
   * Whether a request without a version whose method or path is one of 1.0 (`SendMessage`, `/message:send`) is taken for one.
   * Default: as `lenient`. By the specification it is one of 0.3.
   */
  readonly inferVersion?: boolean | undefined;
  /**
   * The card for requests without a version: the `superset` that readers of both versions understand (default), or that of
   * 0.3 alone. Neither has signatures. A request with the version 1.0 gets the signed card.
   */
  readonly card?: 'superset' | 'plain' | undefined;
  /**
   * The style of answers on HTTP+JSON if the request has none: the JSON of the protocol buffers (`proto`, default) or that
   * of JSON-RPC (`kind`). False serves only JSON-RPC.
   */
  readonly httpJson?: HttpJsonStyle | false | undefined;
  /**
   * What clients write for the bytes of files in the JSON of the protocol buffers: the `bytes`, or their base64 text
   * (`base64`), as the SDKs for Python and Go do. By default, their `User-Agent` tells.
   */
  readonly files?: FileBytes | undefined;
  readonly onLoss?: OnLoss | undefined;
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
      const isForBoth = version === undefined && card === 'superset';
      return isForBoth ? bothCards(newer, report) : cardCodec.encode(newer, { report }, '');
    },
  };
}

/** Webhooks of 0.3 get the event without a wrapper. */
const pushFormat = (report: ReportLoss): PushFormat => ({
  version: V03,
  mediaType: JSON_TYPE,
  encode: (event) => JSON.stringify(eventCodec.encode(event, { report }, '')),
});

const looksNewer = (request: HttpRequest): boolean =>
  ['', '/'].includes(request.path)
    ? isOperationName(String(bodyOf(request).method))
    : !/^\/v1(\/|$)/.test(request.path);

/** How a client speaks A2A 0.3. */
export interface V03ClientOptions {
  /**
   * What the agent reads for the bytes of files on HTTP+JSON: the `bytes`, as the proto has them (default), or their base64
   * text (`base64`), as the SDKs for Python and Go do. Files of agents are read in both forms.
   */
  readonly files?: FileBytes | undefined;
  readonly onLoss?: OnLoss | undefined;
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
  if (!isObject(json) || wrappers.some((name) => isObject(json[name]))) return undefined;
  return decodedBy(() => {
    const event = eventCodec.decode(json, { report, isLenient: true }, '');
    return Object.keys(event).length > 0 ? event : undefined;
  });
}

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** A card of 0.3, unless it is one of 1.0 too. */
function decodeCard(json: unknown, report: ReportLoss) {
  if (!isObject(json) || typeof json.url !== 'string') return undefined;
  if (Array.isArray(json.supportedInterfaces) && json.supportedInterfaces.length > 0) return undefined;
  const { supportsExtendedAgentCard: draft, supportsAuthenticatedExtendedCard = draft, ...card } = json;
  const older = { ...card, supportsAuthenticatedExtendedCard };
  return decodedBy(() => cardCodec.decode(older, { report }, ''));
}

/** What it decodes; undefined for what makes no sense. */
function decodedBy<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
