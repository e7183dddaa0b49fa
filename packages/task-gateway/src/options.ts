import type { ClientTelemetry } from '@batonjs/client';
import { type OptionNames, unknownOptions } from '@batonjs/protocol/options';
import type { Authenticate, Logger } from '@batonjs/server';
import type { Telemetry } from '@batonjs/server/adapter';
import type { AddressPolicyOptions } from '@batonjs/server/address-policy';
import { addressOptions } from '@batonjs/server/internals';
import type { TaskStore } from '@batonjs/store';
import type { TaskTypes } from './dispatch/targets.ts';
import { type WebSocketOptions, webSocketOptions } from './sockets/socket-server.ts';

/** What `createTaskGateway` takes. All times in milliseconds. */
export interface TaskGatewayOptions {
  /** The task types, each with the agent that does it. */
  readonly types: TaskTypes;
  /**
   * Where tasks live. Gateways of several processes on one store, with the same `name` and `types`, are one service. Never
   * closed by the gateway. Default: the memory of this process.
   */
  readonly store?: TaskStore | undefined;
  /** Names the gateway in the store. Other agents and gateways on the store need other names. Default `'task-gateway'`. */
  readonly name?: string | undefined;
  /**
   * Absolute URL at which clients reach the gateway. Needed behind a proxy on the same machine without `authenticate`:
   * requests for other names than those of this machine are refused there, because any web page could send them.
   */
  readonly publicUrl?: string | undefined;
  /**
   * Says who calls; `undefined` refuses the request. Callers see their own tasks only.
   * Refused as UNAVAILABLE if it does not answer within 5 s. Default: all share their tasks.
   */
  readonly authenticate?: Authenticate | undefined;
  /** How long a task may take, in all. It then fails with `TIMEOUT`. Default 86,400,000 (a day). */
  readonly timeoutMs?: number | undefined;
  /** How long an agent may be out of reach before its task fails with `AGENT_UNREACHABLE`. Default 60,000. */
  readonly unreachableMs?: number | undefined;
  /** How long a task outlives its process before another goes on with it. Default 10,000. */
  readonly leaseMs?: number | undefined;
  /** Bytes of one request's body, and of one frame of a WebSocket. Default 1 MiB. */
  readonly bodyBytes?: number | undefined;
  /**
   * Which addresses the card of an agent may lead to outside of the origin of its URL in `types`. Default: public ones.
   * `{ allow: ['10.0.0.0/8'] }` adds those of a network.
   */
  readonly addresses?: AddressPolicyOptions | undefined;
  /** Who may connect to `/task/updates`, and the limits of these WebSockets. */
  readonly webSockets?: WebSocketOptions | undefined;
  /** Sees what clients are not shown. Default: errors and warnings to standard error. */
  readonly logger?: Logger | undefined;
  /**
   * Is told about tasks, and about calls of agents, while they last: `telemetry()` and `clientTelemetry()` of
   * `@batonjs/telemetry`. Clients that are given as agents have their own.
   */
  readonly telemetry?: { readonly server?: Telemetry; readonly client?: ClientTelemetry } | undefined;
}

/** All options, and the names of those in a group. */
const known: Readonly<Record<keyof Required<TaskGatewayOptions>, true | object>> = {
  types: true,
  store: true,
  name: true,
  publicUrl: true,
  authenticate: true,
  timeoutMs: true,
  unreachableMs: true,
  leaseMs: true,
  bodyBytes: true,
  addresses: addressOptions,
  webSockets: webSocketOptions,
  logger: true,
  telemetry: { server: true, client: true } satisfies OptionNames<
    NonNullable<TaskGatewayOptions['telemetry']>
  >,
};

/** A sentence for each option of a gateway that does not exist, and for each member of one. */
export const unknownGatewayOptions = (given: TaskGatewayOptions): string[] => unknownOptions(given, known);
