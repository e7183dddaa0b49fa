import type { Erasure } from '@batonjs/operator';
import type { AgentCard } from '@batonjs/protocol';

/** Something that was done with the inspector, or tried. */
export interface ActionRecord {
  /** ISO 8601. */
  readonly at: string;
  /** The name of the viewer, if `authenticate` gave one. */
  readonly by?: string | undefined;
  readonly action: Action;
  /** Id of the agent. */
  readonly agent?: string | undefined;
  readonly taskId?: string | undefined;
  /** Why it failed, in one sentence; absent if it did not. */
  readonly problem?: string | undefined;
}

/** What was found of it, the newest first, of so many that were searched; `isKept` in the store, not by one process. */
export interface FoundActivity {
  readonly records: readonly ActionRecord[];
  readonly searched: number;
  readonly isKept: boolean;
}

/** A link with which a colleague may look and not act. Times are ISO 8601; `openedAt` is absent until it was opened. */
export interface LookLink extends Readonly<Record<'id' | 'name' | 'at' | 'expiresAt', string>> {
  readonly by?: string | undefined;
  readonly openedAt?: string;
}

/** Those that are not over: kept in the store, not by one process, and opened on the inspector's machine only, or anywhere. */
export interface LookLinks extends Readonly<Record<'areKept' | 'isLocal', boolean>> {
  readonly links: readonly LookLink[];
}

/** The things that a viewer may be allowed to do besides looking at agents and tasks: each as a request, and once it was done. */
export const actions = {
  send: ['send messages', 'Sent a message'],
  cancel: ['cancel tasks', 'Canceled'],
  wake: ['wake tasks', 'Ran now'],
  fork: ['run tasks again', 'Ran again'],
  assign: ['give questions to people', 'Gave a question to a person'],
  redeliver: ['redeliver webhooks', 'Retried webhooks'],
  erase: ['erase the data of a person', 'Erased the data of a person'],
  'fetch-file': ['load files from other servers', 'Loaded a file'],
  'add-agent': ['add agents', 'Added or removed an agent'],
  'read-requests': ['read the requests of clients', 'Read the requests of clients'],
  'read-prompts': ['read what models are asked and say', 'Read what models are asked'],
  share: ['make links for colleagues', 'Made or took back a link'],
  kill: ['kill the process', 'Killed the process'],
} as const;

/** Who did what, in words. A process of another version may have kept an action that this one does not know. */
export const wordsOf = ({ by = 'holder of the token', action }: ActionRecord) => ({
  who: by,
  what: (actions as Partial<typeof actions>)[action]?.[1] ?? action,
});

/** Something that a viewer may be allowed to do. */
export type Action = keyof typeof actions;

/** What the app needs to know before it shows anything. */
export interface SessionInfo {
  /** The viewer's name, if `authenticate` gave one. */
  readonly viewer?: string;
  /** The actions that are allowed for this viewer. Each request is checked again. */
  readonly may: readonly Action[];
  readonly agents: readonly AgentSummary[];
  /** Where a trace is shown, with `{traceId}` in place of its id. */
  readonly traceUrl?: string;
  /** In which costs of models are; absent without prices. */
  readonly currency?: string;
  /** Changes when the process of the inspector is another one. */
  readonly process: string;
}

/** An agent in the list. */
export interface AgentSummary {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Where its clients reach it; absent for a store without an agent. */
  readonly url?: string;
  /** Whether messages can be sent: the inspector has a URL or the server itself. */
  readonly canCall: boolean;
  /** Whether the inspector reads the store, and so knows facts, leases and webhooks. */
  readonly hasStore: boolean;
  /** Whether the inspector has the server itself, which can wake and fork tasks. */
  readonly hasServer: boolean;
  /** The callers and tenants whose tasks can be looked at. */
  readonly scopes: readonly string[];
  /** A viewer added it, and it can be removed. */
  readonly isAdded?: true;
  /** Why the card could not be read the last time. */
  readonly problem?: string;
}

/** An agent that a host lists in its AI Catalog. */
export interface ListedAgent {
  readonly name: string;
  readonly description?: string | undefined;
  /** Of its card. */
  readonly url: string;
}

/** An interface of a card, and whether the inspector can use it. */
export interface InterfaceChoice {
  readonly url: string;
  readonly protocolBinding: string;
  readonly protocolVersion: string;
  readonly tenant?: string;
  readonly isUsable: boolean;
  /** Whether calls go to it unless another one is chosen. */
  readonly isChosen: boolean;
}

/** The judgement about the signatures of a card. */
export type SignatureReport =
  | { readonly state: 'absent' }
  | { readonly state: 'verified'; readonly kid: string; readonly unauthenticated: readonly string[] }
  | { readonly state: 'unverifiable' | 'invalid'; readonly why: string };

/** A card with everything that was checked. */
export interface CardReport {
  /** The card as A2A 1.0. */
  readonly card: AgentCard;
  /** The card as the agent sent it. */
  readonly raw: unknown;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly signature: SignatureReport;
  readonly interfaces: readonly InterfaceChoice[];
  /** The schemas of typed skills, by the id of the skill. */
  readonly skillSchemas: Readonly<Record<string, unknown>>;
}

/** How many tasks are open, each at most {@link mostCounted} and one, and what ended. */
export interface OpenCounts {
  /** They wait for a client or an authorization. */
  readonly asking: number;
  /** The agent works on them. */
  readonly working: number;
  /** They were submitted, and no process works on them yet. */
  readonly waiting: number;
  /** How many ended within the hours of a day, and how many of them failed. */
  readonly ended: number;
  readonly failed: number;
  /** How many of them ended in each hour, the present one last. */
  readonly perHour: readonly number[];
  /** How long most of them took, 95 of 100: milliseconds, exact to its 41 %. With what models used. Absent if none ended. */
  readonly p95Ms?: number;
  readonly tokens?: number;
  /** Millionths, by currency. */
  readonly costs?: Readonly<Record<string, number>>;
  /** They wait for a client or an authorization, and belong to callers that are not shown. Absent without any. */
  readonly hidden?: number;
  /** The names of the servers and workers that run, and the versions that turns are pinned to. */
  readonly processes: readonly string[];
  readonly versions: readonly string[];
}

/** More are not counted: a store counts up to here and no further. */
export const mostCounted = 999;

/** The open tasks by the id of the agent, of those whose store the inspector has. */
export type Overview = Readonly<Record<string, OpenCounts>>;

/** What a person has at one agent, or had before it was erased. */
export interface ErasedAt extends Erasure {
  /** Id of the agent. */
  readonly agent: string;
}
