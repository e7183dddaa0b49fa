import type { SendMessageRequest } from '@batonjs/protocol';
import type { Scope, TaskStore } from '@batonjs/store';
import type { Caller } from '../../agent/caller.ts';
import type { Logger } from '../../base/hooks/logger.ts';
import type { RequestWatch, WatchedStart } from '../../base/hooks/request-watch.ts';
import { streamOptions } from '../../base/timeouts.ts';
import { systemClock } from '../../base/timing/clock.ts';
import { deadlinesOf } from '../../base/timing/deadline-timers.ts';
import type { Dependencies } from './call-context.ts';

/** The calls that one request of a front end makes. */
export interface FrontCalls {
  /** Finds out who calls, and counts the request. Rejects with the `A2AError` that refuses the caller. */
  ask(): Promise<unknown>;
  /** Answers a call in the name of this caller, who is asked no more. */
  fetch(request: Request): Promise<Response>;
}

/** What other packages of this repository use of a server. */
export interface Inside {
  /** Its name in the store. */
  readonly name: string;
  readonly store: TaskStore;
  readonly publicUrl: string | undefined;
  readonly logger: Logger;
  /** Shows the requests of all clients to those who ask. */
  readonly watch: RequestWatch;
  /** What it works with, for operators of this process. */
  readonly dependencies: Dependencies;
  /** Aborted when it closes. */
  readonly closing: AbortSignal;
  /** As `AgentServer.runDue`. Resolves to undefined for a tick that came before. `wholeMs`: how long other runs are. */
  runDue(
    options: { readonly forMs: number; readonly signal?: AbortSignal | undefined },
    more?: { readonly tick?: readonly [string, number] | undefined; readonly wholeMs?: number },
  ): Promise<object | undefined>;
  /** Rejects with an `A2AError` where the program may begin no task of a caller. */
  mayBegin(scope: Scope): Promise<void>;
  /**
   * Records a message of the program itself in the name of a caller, whatever `authenticate` would say, and however often
   * it is repeated. Rejects with an `A2AError`.
   */
  submit(request: SendMessageRequest, caller: Caller | undefined): Promise<void>;
  /** Answers the calls of a front end's request, from which `authenticate` knows the caller. */
  callsOf(head: WatchedStart & { readonly remoteAddress?: string | undefined }): FrontCalls;
}

/** Registered, because each entry of this package is a file of its own: a variable would exist once per entry. */
const inside = Symbol.for('@batonjs/server/inside');

/** Remembers the inside of a server for {@link insideOf}. */
export const keepInside = <Server extends object>(server: Server, value: Inside): Server =>
  Object.defineProperty(server, inside, { value });

/** The inside of a server; undefined for an object that `createAgentServer` did not make. */
export const insideOf = (server: object): Inside | undefined => (server as { [inside]?: Inside })[inside];

/** After how long a silent stream sends a comment: as the server says, and as it does by default without one. */
export function heartbeatsOf(server: object): ReturnType<typeof deadlinesOf> {
  const { clock, options } = insideOf(server)?.dependencies ?? withoutServer;
  return deadlinesOf(options.streams.heartbeatMs, clock);
}

const withoutServer = { clock: systemClock, options: { streams: streamOptions } };
