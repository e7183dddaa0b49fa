import type { CardTrust } from '@batonjs/auth';
import type { ConnectOptions } from '@batonjs/client';
import type { AgentServer, Authenticate } from '@batonjs/server';
import type { ModelPrices } from '@batonjs/server/internals';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import type { Action, ActionRecord } from './api/agent.ts';

/** Whose tasks in a store are shown: they belong to an agent, a tenant and a caller. */
export interface InspectedCaller {
  /** How the app calls it. Default: caller and tenant. */
  readonly label?: string;
  readonly tenant?: string;
  /** The `scope` that `authenticate` of the agent's server gave the caller. */
  readonly caller?: string;
}

/** An agent to look at: by its URL, by its server in this process, or only by its tasks in a store. */
export interface InspectedAgent {
  /** Its name in the app and in the store. Default: that of the server, or of the URL. */
  readonly name?: string | undefined;
  /** Where its clients reach it. With `server`, calls stay in this process. */
  readonly url?: string | undefined;
  readonly server?: AgentServer | undefined;
  /** The store of its tasks. Default: that of the server. Needs `name` without a server. */
  readonly store?: (TaskStore & Partial<PushConfigStore>) | undefined;
  /**
   * Whose tasks are shown from the store. Default: those of all callers of whom the agent has had a task in 400 days. With a
   * list, the app says how many questions others have.
   */
  readonly callers?: readonly InspectedCaller[] | undefined;
  /** How the inspector calls the agent, credentials for example. */
  readonly connect?:
    | Omit<ConnectOptions, 'fetch' | 'bindings' | 'compatibility' | 'binding' | 'version' | 'verifyCard'>
    | undefined;
  /** The keys whose signatures of the card are trusted. Without it, a signature cannot be verified. */
  readonly trust?: CardTrust | undefined;
}

/** A task, a webhook or an agent that an action is about. */
export interface Target {
  readonly agent?: string;
  readonly taskId?: string;
}

/** A person who uses the inspector. */
export interface Viewer {
  readonly name?: string;
  /** What the viewer may do besides looking: a list, or a function that is asked for each action. Default: nothing. */
  readonly may?: readonly Action[] | ((action: Action, target: Target) => boolean | Promise<boolean>);
}

/** How many requests of clients are kept. */
export interface ClientRequestsOptions {
  /** Default 500. */
  readonly last?: number;
  /** The memory that they may take, in bytes. Default 16 MiB. */
  readonly bytes?: number;
}

/** Options of `inspector`. Needs `agents`, `server` or `store`. */
export interface InspectorOptions extends InspectedAgent {
  /** Several agents, in place of one. */
  readonly agents?: readonly InspectedAgent[] | undefined;
  /**
   * Finds out who asks; undefined refuses. It replaces the token, and requests may then come from other machines under a
   * name that `hosts` lists. Without it, only this machine is served, with the token.
   */
  readonly authenticate?:
    | ((request: Parameters<Authenticate>[0]) => Viewer | undefined | Promise<Viewer | undefined>)
    | undefined;
  /** What the holder of the token may do. Default: look only. */
  readonly allow?: readonly Action[] | undefined;
  /** The token, at least 16 characters. Default: a random one for each process. */
  readonly token?: string | undefined;
  /** Names of hosts under which the inspector is reached, besides those of this machine, such as `ops.example.com`. */
  readonly hosts?: readonly string[] | undefined;
  /**
   * Where a trace is shown, with `{traceId}` in place of its id: `http://localhost:16686/trace/{traceId}` for Jaeger. Each
   * task whose messages were traced has a link there; it needs the store of the agent. `http` or `https`.
   */
  readonly traceUrl?: string | undefined;
  /**
   * Keeps the last requests of all clients to each `server` here, and their answers: path, caller, status, time, and
   * bodies without credentials. For viewers with the action `read-requests`. Default: off, and requests cost nothing more.
   */
  readonly clientRequests?: boolean | ClientRequestsOptions | undefined;
  /**
   * What the models of agents on the AI SDK cost. Tasks then show it for each call and in all. Without the price of a model,
   * its calls have tokens and no cost.
   */
  readonly modelPrices?: ModelPrices | undefined;
  /** Called after each action and each attempt of one. The inspector itself keeps who did what in the store, for 90 days. */
  readonly onAction?: ((record: ActionRecord) => void) | undefined;
  /** Kills this process, which a parent starts again. The app then has a button for it, on loopback only. */
  readonly kill?: (() => void) | undefined;
}
