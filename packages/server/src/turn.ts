import { type Command, type MessageReceived, type State, viewTask } from '@batonjs/lifecycle';
import type { Lease } from '@batonjs/store';
import type { Turn } from './agent.ts';
import { contextOf, referencesOf } from './context.ts';
import { createInbox } from './inbox.ts';
import type { LiveTask } from './live-task.ts';
import type { RunSettings } from './settings.ts';
import { wakeKeyOf } from './wake-key.ts';

/** What a turn is made of. */
export interface TurnSource {
  readonly live: LiveTask;
  readonly lease: Lease;
  readonly settings: RunSettings;
  readonly signal: AbortSignal;
  readonly write: (command: Command) => Promise<unknown>;
}

/** What the agent is given for one run. */
export function createTurn({ live, lease, settings, signal, write }: TurnSource): Turn {
  const { state } = live;
  const { scope, taskId } = live;
  const messages = state.conversation.messages.items.slice(0, state.conversation.messages.length);
  const latest = latestTaken(state);
  const { message } = latest;
  const used = new Set<string>();
  return {
    message,
    messages,
    text: message.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n'),
    values: valuesOf(messages),
    contextId: state.contextId,
    taskId,
    get task() {
      const now = live.state;
      return now.task && viewTask(now, { currentStatusInHistory: settings.currentStatusInHistory });
    },
    context: contextOf(settings.store, scope, state.contextId, taskId),
    references: () => referencesOf(settings.store, scope, message.referenceTaskIds ?? []),
    caller: latest.caller ?? {},
    metadata: latest.metadata ?? {},
    acceptedOutputModes: latest.configuration?.acceptedOutputModes ?? [],
    extensions: latest.extensions ?? [],
    attempt: state.openTurn?.attempt ?? 1,
    async step<T>(name: string, fn: () => T | Promise<T>): Promise<T> {
      if (used.has(name)) throw new TypeError(`The step "${name}" was used in this turn already`);
      used.add(name);
      const done = live.state.openTurn?.steps ?? {};
      if (Object.hasOwn(done, name)) return done[name] as T;
      const result = await fn();
      // What a later attempt would get is what this one gets: JSON.
      const plain = result === undefined ? null : JSON.parse(JSON.stringify(result));
      await write({ type: 'complete-step', name, result: plain });
      return result === undefined ? result : plain;
    },
    inbox: createInbox(live, signal, (messageId) => write({ type: 'take', messageId })),
    signal,
    fence: lease.fence,
    wakeKey: wakeKeyOf(scope, taskId),
  };
}

function latestTaken({ taken, untaken }: State): MessageReceived {
  const latest = taken.at(-1) ?? untaken.at(-1);
  if (!latest) throw new TypeError('A turn needs a message');
  return latest;
}

function valuesOf(messages: Turn['messages']): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { role, parts } of messages) {
    if (role !== 'ROLE_USER') continue;
    for (const part of parts) {
      if ('data' in part && typeof part.data === 'object' && !Array.isArray(part.data))
        Object.assign(values, part.data);
    }
  }
  return values;
}
