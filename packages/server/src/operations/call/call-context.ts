import type { AgentCard, TaskPushNotificationConfig } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { PushConfig, Scope, TaskName } from '@batonjs/store';
import { sha256 } from '#bytes';
import type { Caller, SkillOf } from '../../agent/caller.ts';
import type { StreamOptions } from '../../base/timeouts.ts';
import type { LiveTask } from '../../log/live-task.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import type { Claimer } from '../../turns/claim/claimer.ts';
import type { Runner } from '../../turns/runner.ts';
import type { TurnDependencies, TurnOptions } from '../../turns/turn-dependencies.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { ServedCards } from '../card/served-cards.ts';

/** How operations are answered: the options of a server, completed. Plain values, times in milliseconds. */
export interface OperationOptions extends TurnOptions {
  /** Whether the agent always works on a task. */
  readonly alwaysTask: boolean;
  /** How many tasks of a caller may be unfinished; undefined: any number. */
  readonly unfinishedTasks: number | undefined;
  readonly streams: StreamOptions;
  /** Finds the skill that a message is for; undefined if no message names one. */
  readonly skillOf: SkillOf | undefined;
}

/** The objects that operations are answered with. Made once for each server. */
export interface Dependencies extends TurnDependencies {
  /** The public card, without interfaces unless they were given. */
  readonly card: AgentCard;
  readonly cards: ServedCards;
  readonly tasks: LiveTasks;
  readonly runner: Runner;
  readonly claimer: Claimer;
  /** Undefined if the server delivers to no webhooks. */
  readonly push: Webhooks | undefined;
  /** Whether the server still accepts requests. */
  readonly isOpen: () => boolean;
  /** Works on the task of a call that waits for it, until the returned function is called. Undefined: others do. */
  readonly work: ((task: TaskName) => () => Promise<void>) | undefined;
  readonly options: OperationOptions;
}

/** The circumstances of a call, besides its parameters. */
export interface CallContext {
  /** Agent, tenant and caller in one. */
  readonly scope: Scope;
  /** Undefined if the server knows no callers. */
  readonly caller: Caller | undefined;
  /** URIs of the extensions that are active. */
  readonly extensions: readonly string[];
  /** `Major.Minor` of the protocol that the call speaks. */
  readonly version: string;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** The id of the last event that the client saw of a broken stream. */
  readonly lastEventId?: string | undefined;
  /** The URL at which the server was reached, if the request can be trusted to say it. */
  readonly baseUrl?: string | undefined;
  /** Names the request in the log. */
  readonly requestId: string;
  /** Of the span of the request, if there is one. It is stored with a message. */
  readonly traceparent?: string;
}

const longestScope = 512;

let latest: { agent: string; tenant: string; caller: string; scope: Scope } | undefined;

/**
 * The scope of a caller's tasks: opaque to stores, equal only if agent, tenant and caller are. Remembers the last one:
 * the next call is usually of the same caller, and a store that gets the same string object keeps it once.
 */
export function scopeOf(
  agent: string,
  tenant = '',
  { scope: caller }: Pick<Caller, 'scope'> = anonymous,
): Scope {
  if (latest?.agent !== agent || latest.tenant !== tenant || latest.caller !== caller)
    latest = { agent, tenant, caller, scope: toScope(agent, tenant, caller) };
  return latest.scope;
}

const anonymous = { scope: '' };

function toScope(agent: string, tenant: string, caller: string): Scope {
  const scope = JSON.stringify([agent, tenant, caller]);
  // The name of a caller has any length, the scope of a store has not.
  return scope.length <= longestScope ? scope : sha256(scope, 'base64url');
}

/** The live task, to be released by the caller. Throws `TASK_NOT_FOUND`, for a log that is no task as well. */
export async function openTask(
  taskId: string,
  scope: Scope,
  { tasks }: Pick<Dependencies, 'tasks'>,
): Promise<LiveTask> {
  const live = await tasks.open(scope, taskId);
  if (live?.state.task) return live;
  if (live) tasks.release(live);
  throw taskNotFound(taskId);
}

export const taskNotFound = (taskId: string): A2AError =>
  new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId } });

/** The webhooks of the server. Throws `PUSH_NOTIFICATION_NOT_SUPPORTED` if it has none. */
export function webhooksOf({ push }: Dependencies): Webhooks {
  if (!push) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
  return push;
}

/** How many facts the log of a task has. Throws `TASK_NOT_FOUND`. */
export async function lengthOf(taskId: string, scope: string, dependencies: Dependencies): Promise<number> {
  const live = await openTask(taskId, scope, dependencies);
  dependencies.tasks.release(live);
  return live.version;
}

/** The configuration as get and list return it: without secrets if the server redacts them. */
export function redacted({ config }: PushConfig, { options }: Webhooks): TaskPushNotificationConfig {
  if (!options.redactSecrets) return config;
  const { token: _, authentication, ...open } = config;
  return { ...open, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}
