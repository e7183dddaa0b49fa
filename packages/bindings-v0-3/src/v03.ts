import type { ClientCompatibility, HttpRequest, PushFormat, ServerCompatibility } from '@batonjs/bindings';
import { JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isOperationName } from '@batonjs/protocol/operations';
import { askHttpJson, type HttpJsonStyle, serveHttpJson } from './http/http-json.ts';
import { askJsonRpc, serveJsonRpc } from './http/json-rpc.ts';
import { bothCards, downCard, isV03, upCard, V03 } from './translation/agent-card.ts';
import { type OnLoss, type Say, warner } from './translation/loss.ts';
import { isObject } from './translation/shape.ts';
import { downEvent, upEvent } from './translation/task.ts';
import type { V03AgentCard, V03Event } from './wire/objects.ts';
import { spellEvent } from './wire/spelling.ts';

/** How a server speaks A2A 0.3. */
export interface V03Options {
  /**
   * Whether requests may be spelt in other ways than the specification's: `message.send`, parts without `kind` or with
   * `type`, `fileWithBytes`, messages without `messageId`. Default false.
   */
  readonly lenient?: boolean;
  /**
   * Whether a request that names no version but looks like one of 1.0 (`SendMessage`, `/message:send`) is taken for one. By
   * default only if `lenient`: the specification says 0.3.
   */
  readonly inferVersion?: boolean;
  /**
   * The card for readers who name no version: the `superset` that readers of both versions understand (default), or that
   * of 0.3 alone. It carries no signatures either way; readers of 1.0 say so and get theirs.
   */
  readonly card?: 'superset' | 'plain';
  /**
   * What HTTP+JSON answers in where the request does not show it: the JSON of the protocol buffers (`proto`, default) or
   * that of JSON-RPC (`kind`). False: only JSON-RPC is served.
   */
  readonly httpJson?: HttpJsonStyle | false;
  readonly onLoss?: OnLoss;
}

/** Makes a server speak A2A 0.3 besides 1.0: `createAgentServer({ …, compatibility: [v03()] })`. */
export function v03({
  lenient = false,
  inferVersion = lenient,
  card = 'superset',
  httpJson = 'proto',
  onLoss,
}: V03Options = {}): ServerCompatibility {
  const say = warner(onLoss);
  return {
    bindings: [serveJsonRpc(say, lenient), ...(httpJson ? [serveHttpJson(say, httpJson, lenient)] : [])],
    pushFormat: pushFormat(say),
    impliedVersion: (request) => (inferVersion && looksNewer(request) ? PROTOCOL_VERSION : undefined),
    encodeCard(newer, version) {
      if ((version ?? V03) !== V03 || !newer.supportedInterfaces.some(isV03)) return undefined;
      const encode = version === undefined && card === 'superset' ? bothCards : downCard;
      return encode(newer, say, '');
    },
  };
}

/** Webhooks of 0.3 get the bare event. */
const pushFormat = (say: Say): PushFormat => ({
  version: V03,
  mediaType: JSON_TYPE,
  encode: (event) => JSON.stringify(downEvent(event, say, '')),
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
  readonly onLoss?: OnLoss;
}

/** Makes a client speak A2A 0.3 besides 1.0: `connect(url, { compatibility: [v03Client()] })`. */
export function v03Client({ onLoss }: V03ClientOptions = {}): ClientCompatibility {
  const say = warner(onLoss);
  return {
    bindings: [askJsonRpc(say), askHttpJson(say)],
    decodeCard: (json) => decodeCard(json, say),
    decodePush: (json) => decodePush(json, say),
  };
}

/** A bare object with its `kind`, or without it where its members tell; what is wrapped is left to 1.0. */
function decodePush(json: unknown, say: Say) {
  const event =
    isObject(json) && !wrappers.some((name) => isObject(json[name])) ? spellEvent(json) : undefined;
  if (!isObject(event) || typeof event.kind !== 'string') return undefined;
  try {
    return upEvent(event as unknown as V03Event, say, '');
  } catch {
    return undefined;
  }
}

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate'];

/** A card of 0.3, unless it says the same in the words of 1.0. */
function decodeCard(json: unknown, say: Say) {
  if (!isObject(json) || typeof json.url !== 'string') return undefined;
  if (Array.isArray(json.supportedInterfaces) && json.supportedInterfaces.length > 0) return undefined;
  const { supportsExtendedAgentCard: draft, supportsAuthenticatedExtendedCard = draft, ...card } = json;
  try {
    return upCard({ ...card, supportsAuthenticatedExtendedCard } as unknown as V03AgentCard, say, '');
  } catch {
    return undefined;
  }
}
