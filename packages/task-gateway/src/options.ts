import type { ClientTelemetry } from '@batonjs/client';
import { type OptionsOf, unknownOptions } from '@batonjs/protocol/options';
import type { Authenticate, Logger } from '@batonjs/server';
import type { Telemetry } from '@batonjs/server/adapter';
import type { AddressPolicyOptions } from '@batonjs/server/address-policy';
import { addressOptions } from '@batonjs/server/internals';
import type { TaskStore } from '@batonjs/store';
import type { TaskTypes } from './dispatch/targets.ts';
import { type WebSocketOptions, webSocketOptions } from './sockets/socket-server.ts';

const toStandardError: Logger = (level, message, details) => {
  if (level === 'error' || level === 'warn') console.error(`${level}: ${message}`, details ?? '');
};

/** The options of a gateway that have a default. All times in milliseconds. */
export const gatewayOptions = {
  /**
   * Where tasks live. Gateways of several processes on one store, with the same `name` and `types`, are one service. Never
   * closed by the gateway. Default: the memory of this process.
   */
  store: undefined as TaskStore | undefined,
  /** Names the gateway in the store. Other agents and gateways on the store need other names. Default `'task-gateway'`. */
  name: 'task-gateway',
  /**
   * Absolute URL at which clients reach the gateway. Needed behind a proxy on the same machine without `authenticate`:
   * requests for other names than those of this machine are refused there, because any web page could send them.
   */
  publicUrl: undefined as string | undefined,
  /**
   * Says who calls; `undefined` refuses the request. Callers see their own tasks only.
   * Refused as UNAVAILABLE if it does not answer within 5 s. Default: all share their tasks.
   */
  authenticate: undefined as Authenticate | undefined,
  /** How long a task may take, in all. It then fails with `TIMEOUT`. Default 86,400,000 (a day). */
  timeoutMs: 86_400_000,
  /** How long an agent may be out of reach before its task fails with `AGENT_UNREACHABLE`. Default 60,000. */
  unreachableMs: 60_000,
  /** How long a task outlives its process before another goes on with it. Default 10,000. */
  leaseMs: 10_000,
  /** Bytes of one request's body, and of one frame of a WebSocket. Default 1 MiB. */
  bodyBytes: 1_048_576,
  /**
   * Which addresses the card of an agent may lead to outside of the origin of its URL in `types`. Default: public ones.
   * `{ allow: ['10.0.0.0/8'] }` adds those of a network.
   */
  addresses: undefined as AddressPolicyOptions | undefined,
  /** Who may connect to `/task/updates`, and the limits of these WebSockets. */
  webSockets: undefined as WebSocketOptions | undefined,
  /** Sees what clients are not shown. Default: errors and warnings to standard error. */
  logger: toStandardError,
  /**
   * Is told about tasks, and about calls of agents, while they last: `telemetry()` and `clientTelemetry()` of
   * `@batonjs/telemetry`. Clients that are given as agents have their own.
   */
  telemetry: {} as { readonly server?: Telemetry; readonly client?: ClientTelemetry },
};

/** What `createTaskGateway` takes. All times in milliseconds. */
export interface TaskGatewayOptions extends OptionsOf<typeof gatewayOptions> {
  /** The task types, each with the agent that does it. */
  readonly types: TaskTypes;
}

/** All options, and the names of those in a group. */
const known = {
  ...gatewayOptions,
  types: true,
  addresses: addressOptions,
  webSockets: webSocketOptions,
  telemetry: { server: true, client: true },
};

/** A sentence for each option of a gateway that does not exist, and for each member of one. */
export const unknownGatewayOptions = (given: TaskGatewayOptions): string[] => unknownOptions(given, known);
