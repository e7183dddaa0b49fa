import { guardHook } from '@batonjs/protocol/hooks';

// biome-ignore format: a table reads best with one row per line
/**
 * Everything that one version can express and the other cannot. `up` is from 0.3 to 1.0. Nothing else is lost: `down(up(x))`
 * and `up(down(x))` are `x` except for these.
 */
export const losses = {
  'authentication-schemes': { direction: 'up', what: 'All but the first of `authentication.schemes` of a webhook; without any, its `authentication`' },
  'request-metadata': { direction: 'up', what: '`metadata` of a request about a task, unless it cancels the task' },
  'state-transition-history': { direction: 'up', what: '`capabilities.stateTransitionHistory` of a card, unless it follows from `state-history/v1`' },
  'protocol-version': { direction: 'up', what: 'The `protocolVersion` of a card, if it is not 0.3.0', harmless: true },
  'interface-repeated': { direction: 'up', what: 'An interface that a card names twice', harmless: true },
  'transport-implied': { direction: 'up', what: 'That `preferredTransport` was left out and JSONRPC is meant', harmless: true },
  'waiting-implied': { direction: 'both', what: 'That a configuration says nothing of waiting and waiting is meant', harmless: true },
  'state-unknown': { direction: 'both', what: 'A state that the other version has no word for; it becomes `unknown` or `TASK_STATE_UNSPECIFIED`' },
  'context-id': { direction: 'down', what: 'That a task or an update has no `contextId`; its task id stands in' },
  tenant: { direction: 'down', what: '`tenant`, of requests, webhooks and interfaces' },
  references: { direction: 'down', what: '`referenceTaskIds` of a message, on HTTP+JSON and gRPC' },
  'history-none': { direction: 'down', what: 'A `historyLength` of 0, on gRPC: the whole history comes' },
  'cancel-metadata': { direction: 'down', what: '`metadata` of a request that cancels a task, on gRPC' },
  paging: { direction: 'down', what: 'That there are more webhooks than one answer holds' },
  'device-code': { direction: 'down', what: 'The OAuth flow `deviceCode`; its scheme stays, without flows' },
  'pkce-required': { direction: 'down', what: '`pkceRequired` of an OAuth flow' },
  signatures: { direction: 'both', what: 'Signatures of a card: they sign its text in one version' },
  'interface-newer': { direction: 'down', what: 'Interfaces of a card in other versions', harmless: true },
} as const satisfies Record<string, LossRow>;

interface LossRow {
  readonly direction: 'up' | 'down' | 'both';
  /** A description for the operator. */
  readonly what: string;
  /** Not worth a warning. */
  readonly harmless?: true;
}

/** Names a kind of loss. */
export type LossCode = keyof typeof losses;

/** A value that a translation left out. */
export interface Loss {
  readonly code: LossCode;
  /** Its path, such as `configuration.pushNotificationConfig`. Empty: the value itself. */
  readonly path: string;
}

/** Called for each loss while a value is translated. */
export type ReportLoss = (code: LossCode, path: string) => void;

/** Called for each loss. By default, the first of each kind is written to the console. */
export type OnLoss = (loss: Loss) => void;

/** Passes losses on, except harmless ones. */
export function lossReporter(onLoss: OnLoss = warnOnce()): ReportLoss {
  const report = guardHook('onLoss', onLoss);
  return (code, path) => {
    if (!('harmless' in losses[code])) report({ code, path });
  };
}

function warnOnce(): OnLoss {
  const warned = new Set<LossCode>();
  return ({ code, path }) => {
    if (warned.has(code)) return;
    warned.add(code);
    console.warn(`A2A 0.3: lost at ${path || 'the top'}: ${losses[code].what}`);
  };
}
