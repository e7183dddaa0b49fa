import { historyOf, type MessageReceived, type Metadata, type State, viewTask } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import type { Claims, Inbox, References, Turn, TurnContext } from './agent.ts';
import { contextOf } from './context.ts';
import { createInbox } from './inbox.ts';
import type { LazyAbort } from './lazy-abort.ts';
import type { LeasedTask } from './leased-task.ts';
import { referencesOf } from './references.ts';
import { textOf, valuesOf } from './said.ts';
import type { RunSettings } from './settings.ts';
import { createSteps } from './steps.ts';
import { wakeKeyOf } from './wake-key.ts';

/**
 * What the agent is given for one run. What costs something is made when it is asked for. A class, because V8 places
 * the getters of an object literal among what lives long: what they see would stay until the next full collection.
 */
export class LeasedTurn implements Turn {
  readonly contextId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly fence: number;
  readonly #leased: LeasedTask;
  readonly #settings: RunSettings;
  readonly #abort: LazyAbort;
  /** The task when the turn began. */
  readonly #state: State;
  readonly #latest: MessageReceived;
  #message: Message | undefined;
  #messages: Message[] | undefined;
  #step: Turn['step'] | undefined;
  #inbox: Inbox | undefined;

  constructor(leased: LeasedTask, settings: RunSettings, abort: LazyAbort) {
    const { state, taskId } = leased.live;
    this.contextId = state.contextId;
    this.taskId = taskId;
    this.attempt = state.openTurn?.attempt ?? 1;
    this.fence = leased.lease.fence;
    this.#leased = leased;
    this.#settings = settings;
    this.#abort = abort;
    this.#state = state;
    this.#latest = latestTaken(state);
  }

  // What an agent is given is its own: it may change it, and the state must not notice.
  get message(): Message {
    this.#message ??= structuredClone(this.#latest.message);
    return this.#message;
  }

  get messages(): readonly Message[] {
    this.#messages ??= structuredClone(historyOf(this.#state, { currentStatusInHistory: true }));
    return this.#messages;
  }

  get text(): string {
    return textOf(this.#latest.message);
  }

  get values(): Readonly<Record<string, unknown>> {
    return valuesOf(this.messages);
  }

  get task(): Task | undefined {
    const { state } = this.#leased.live;
    const { currentStatusInHistory } = this.#settings;
    return state.task && structuredClone(viewTask(state, { currentStatusInHistory }));
  }

  get context(): TurnContext {
    return contextOf(this.#settings.store, this.#leased.live.scope, this.contextId, this.taskId);
  }

  get references(): () => Promise<References> {
    return () => referencesOf(this.#settings.store, this.#leased.live.scope, this.#latest.message);
  }

  get caller(): Claims {
    return this.#latest.caller ?? {};
  }

  get metadata(): Readonly<Metadata> {
    return this.#latest.metadata ?? {};
  }

  get acceptedOutputModes(): readonly string[] {
    return this.#latest.configuration?.acceptedOutputModes ?? [];
  }

  get extensions(): readonly string[] {
    return this.#latest.extensions ?? [];
  }

  get step(): Turn['step'] {
    this.#step ??= createSteps(this.#leased);
    return this.#step;
  }

  get inbox(): Inbox {
    this.#inbox ??= createInbox(this.#leased, this.#abort.signal);
    return this.#inbox;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get wakeKey(): string {
    return wakeKeyOf(this.#leased.live.scope, this.taskId);
  }
}

function latestTaken({ taken, untaken }: State): MessageReceived {
  const latest = taken.at(-1) ?? untaken.at(-1);
  if (!latest) throw new TypeError('A turn needs a message');
  return latest;
}
