import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PriceTable } from '@batonjs/server/internals';
import type { Activity } from '../activity.ts';
import type { Action } from '../api/agent.ts';
import type { ClientRequests } from '../clients/client-requests.ts';
import type { Inspection } from '../inspection.ts';
import type { Links } from '../links.ts';
import type { Target, Viewer } from '../options.ts';

/** One request for data or an action, from a viewer who may look. */
export interface Ask {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The agent and the task in the path; `''` where it names none. */
  readonly params: { readonly agent: string; readonly task: string };
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
  readonly inspection: Inspection;
  /** What was done so far. */
  readonly activity: Activity;
  readonly links: Links;
  /** Takes secrets out of JSON that this viewer gets. */
  readonly hide: (json: string) => string;
  /** The requests of all clients, if they are kept. */
  readonly clientRequests?: ClientRequests | undefined;
  /** The body as JSON. */
  body(): Promise<Readonly<Record<string, unknown>>>;
  /** Rejects with a `RequestError` unless the viewer may do this. */
  permit(action: Action, target?: Target): Promise<void>;
  /** Kills this process; absent where that is not offered. */
  readonly kill?: (() => void) | undefined;
  /** Where a trace is shown; absent if the inspector was not told. */
  readonly traceUrl?: string | undefined;
  /** What models cost, if the inspector was told. */
  readonly prices?: PriceTable | undefined;
  /** Identifies this process. */
  readonly process: string;
}

/** Answers a request: with the JSON that it resolves to, unless it answered itself. */
export type Route = (ask: Ask) => Promise<unknown>;

/** What a route resolves to when it has written the response itself. */
export const ANSWERED = Symbol('answered');
