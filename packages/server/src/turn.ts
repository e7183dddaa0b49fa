import { historyOf, type MessageReceived, type State, viewTask } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import type { Inbox, Turn } from './agent.ts';
import { contextOf } from './context.ts';
import { createInbox } from './inbox.ts';
import type { LazyAbort } from './lazy-abort.ts';
import type { LeasedTask } from './leased-task.ts';
import { referencesOf } from './references.ts';
import { textOf, valuesOf } from './said.ts';
import type { RunSettings } from './settings.ts';
import { createSteps } from './steps.ts';
import { wakeKeyOf } from './wake-key.ts';

/** What the agent is given for one run. What costs something is made when it is asked for. */
export function createTurn(leased: LeasedTask, settings: RunSettings, abort: LazyAbort): Turn {
  const { live, lease } = leased;
  const { state, scope, taskId } = live;
  const { contextId } = state;
  const latest = latestTaken(state);
  // What an agent is given is its own: it may change it, and the state must not notice.
  let message: Message | undefined;
  const { currentStatusInHistory } = settings;
  let messages: Message[] | undefined;
  let step: Turn['step'] | undefined;
  let inbox: Inbox | undefined;
  return {
    get message() {
      message ??= structuredClone(latest.message);
      return message;
    },
    get messages() {
      messages ??= structuredClone(historyOf(state, { currentStatusInHistory: true }));
      return messages;
    },
    get text() {
      return textOf(latest.message);
    },
    get values() {
      return valuesOf(this.messages);
    },
    contextId,
    taskId,
    get task(): Task | undefined {
      return live.state.task && structuredClone(viewTask(live.state, { currentStatusInHistory }));
    },
    get context() {
      return contextOf(settings.store, scope, contextId, taskId);
    },
    references: () => referencesOf(settings.store, scope, latest.message),
    caller: latest.caller ?? {},
    metadata: latest.metadata ?? {},
    acceptedOutputModes: latest.configuration?.acceptedOutputModes ?? [],
    extensions: latest.extensions ?? [],
    attempt: state.openTurn?.attempt ?? 1,
    get step() {
      step ??= createSteps(leased);
      return step;
    },
    get inbox() {
      inbox ??= createInbox(leased, abort.signal);
      return inbox;
    },
    get signal() {
      return abort.signal;
    },
    fence: lease.fence,
    get wakeKey() {
      return wakeKeyOf(scope, taskId);
    },
  };
}

function latestTaken({ taken, untaken }: State): MessageReceived {
  const latest = taken.at(-1) ?? untaken.at(-1);
  if (!latest) throw new TypeError('A turn needs a message');
  return latest;
}
