import { historyOf, type MessageReceived, type State, viewTask } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import type { Turn } from './agent.ts';
import { contextOf, referencesOf } from './context.ts';
import { createInbox } from './inbox.ts';
import type { LeasedTask } from './leased-task.ts';
import { textOf, valuesOf } from './said.ts';
import type { RunSettings } from './settings.ts';
import { createSteps } from './steps.ts';
import { wakeKeyOf } from './wake-key.ts';

/** What the agent is given for one run. What costs something is made when it is asked for. */
export function createTurn(leased: LeasedTask, settings: RunSettings, signal: AbortSignal): Turn {
  const { live, lease } = leased;
  const { state, scope, taskId } = live;
  const { contextId } = state;
  const latest = latestTaken(state);
  const message = structuredClone(latest.message);
  const { currentStatusInHistory } = settings;
  let messages: Message[] | undefined;
  return {
    message,
    get messages() {
      messages ??= historyOf(state, { currentStatusInHistory: true });
      return messages;
    },
    get text() {
      return textOf(message);
    },
    get values() {
      return valuesOf(this.messages);
    },
    contextId,
    taskId,
    get task(): Task | undefined {
      return live.state.task && viewTask(live.state, { currentStatusInHistory });
    },
    get context() {
      return contextOf(settings.store, scope, contextId, taskId);
    },
    references: () => referencesOf(settings.store, scope, message.referenceTaskIds ?? []),
    caller: latest.caller ?? {},
    metadata: latest.metadata ?? {},
    acceptedOutputModes: latest.configuration?.acceptedOutputModes ?? [],
    extensions: latest.extensions ?? [],
    attempt: state.openTurn?.attempt ?? 1,
    step: createSteps(leased),
    inbox: createInbox(leased, signal),
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
