import { httpJsonServer, jsonRpcServer, type ServerBinding } from '@batonjs/bindings';
import type { AgentCard } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { parseVersion } from '@batonjs/protocol/headers';
import { StoreError } from '@batonjs/store';
import { isTaskAgent } from './agent/agent.ts';
import { type CardInput, completeCard } from './card/complete-card.ts';
import { knownOfCard } from './card/derived-members.ts';
import { credentialHeaders } from './card/security.ts';
import { createCards } from './card/served-cards.ts';
import { completeSettings } from './complete-options.ts';
import { completeCors, withCors } from './http/cors.ts';
import { createFetch } from './http/fetch.ts';
import { createHandler, type HandlerSettings } from './http/handler.ts';
import type { Handle } from './http/http-exchange.ts';
import { LiveTasks } from './log/live-tasks.ts';
import { appendOpenly } from './log/write/append-openly.ts';
import { decideAll } from './log/write/decision.ts';
import { takeRoom } from './log/write/task-room.ts';
import { takeName } from './names-on-store.ts';
import type { AgentServerOptions } from './options.ts';
import { type PushDeliveries, pushDeliveries } from './push/dead-letters.ts';
import { Deliverer } from './push/deliverer.ts';
import { completePush } from './push/webhooks.ts';
import { createReadiness, type Readiness } from './store/readiness.ts';
import { isoTime } from './timing/clock.ts';
import { newId } from './timing/new-id.ts';
import { Claimer } from './turns/claim/claimer.ts';
import { Runner } from './turns/runner.ts';
import { readWakeKey } from './turns/wake-key.ts';

/** An agent that can be called. */
export interface AgentServer {
  /** The card, without interfaces unless they were given. */
  readonly card: AgentCard;
  /** The web-standard handler. Paths are below `publicUrl`, or below the origin without it. */
  fetch(request: Request): Promise<Response>;
  /** The handler that skins call. */
  readonly handle: Handle;
  /**
   * Starts another turn of the task whose agent gave out this `turn.wakeKey`, without a client's message. Rejects with an
   * `A2AError`: `TASK_NOT_FOUND`, or `UNSUPPORTED_OPERATION` if the task has ended.
   */
  wake(wakeKey: string, metadata?: Record<string, unknown>): Promise<void>;
  /** Whether it accepts requests and its store takes writes, which is tried at most once a second. */
  ready(): Promise<boolean>;
  /** The same as `ready`, and why not: the disk is full, say. Not for clients. */
  readiness(): Promise<Readiness>;
  /** What became of webhooks. */
  readonly push: PushDeliveries;
  /** How many turns run here, and how many tasks are held in memory. */
  readonly load: { readonly turns: number; readonly tasks: number };
  /**
   * Deletes tasks that ended before a time (milliseconds since 1970) and have nothing undelivered. Resolves to how many. Tasks
   * that wait for an answer have not ended: see `clocks.interruptedMs`.
   */
  prune(options: { closedBefore: number; limit?: number }): Promise<number>;
  /**
   * Accepts nothing more, waits up to `graceMs` milliseconds (default 10,000) for running turns and deliveries, ends the rest
   * (FAILED under `restart: 'fail'`, handed back to other processes under `'rerun'`), and ends all streams. The store
   * stays open.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Makes an agent callable. Starts at once to recover tasks that other processes left. */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const settings = completeSettings(options, options.run ?? 'here');
  const { store, clock, queue, log } = settings;
  const tasks = new LiveTasks(settings);
  const runner = new Runner(settings, tasks);
  const claimer = new Claimer(settings, tasks, runner);
  let open = true;
  const readiness = createReadiness({ store, queue, clock, log, isOpen: () => open });
  const { compatibility = [] } = options;
  const push = completePush(store, options.push, compatibility);
  const deliverer = push && new Deliverer({ ...settings, push });
  const known = knownOfCard(options, push !== undefined);
  const card = completeCard(options.card, known);
  if (card.capabilities.pushNotifications && !push)
    throw new TypeError(
      '`card.capabilities.pushNotifications` needs a store that keeps webhooks, and `push`',
    );
  const publicUrl = options.publicUrl?.replace(/(?<!\/)\/+$/, '');
  const bindings: HandlerSettings['bindings'] = [
    ...(options.bindings ?? ([jsonRpcServer, httpJsonServer] as const)),
    ...compatibility.flatMap(({ bindings }) => bindings).filter((binding) => isListed(card, binding)),
  ];
  const { extendedCard, signCard } = options;
  const complete = (members: Partial<CardInput>) => completeCard({ ...options.card, ...members }, known);
  const handlerSettings: HandlerSettings = {
    ...settings,
    card,
    cards: createCards({ card, complete, extendedCard, signCard, bindings, publicUrl }),
    tasks,
    runner,
    claimer,
    push,
    alwaysTask: isTaskAgent(options.agent),
    idempotency: options.idempotency ?? 'authenticated',
    blockingMs: options.blockingMs ?? 120_000,
    cancelWaitMs: options.cancelWaitMs ?? 10_000,
    closeStreamsOnInputRequired: options.closeStreamsOnInputRequired ?? true,
    bindings,
    compatibility,
    tenants: options.tenants,
    authenticate: options.authenticate,
    isOpen: () => open,
  };
  const handle = withCors(
    createHandler(handlerSettings),
    completeCors(options.cors, credentialHeaders(card)),
  );
  const leaveName = takeName(options.store, queue, options.card);
  if (settings.run === 'here') claimer.start();
  deliverer?.start();

  return {
    card,
    handle,
    push: pushDeliveries(push, queue),
    fetch: createFetch(handle, publicUrl ? new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, '') : ''),
    get load() {
      return { turns: runner.running, tasks: tasks.size };
    },
    async wake(wakeKey, metadata) {
      const { scope, taskId } = readWakeKey(wakeKey);
      const live = await tasks.open(scope, taskId);
      if (!live) throw new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId } });
      try {
        const { facts } = decideAll(live.state, [{ type: 'wake', metadata }], isoTime(clock.now()));
        const giveBack = takeRoom(live, facts, settings.limits);
        await appendOpenly(live, facts, `woken:${newId(clock)}`, { queue, want: true }).finally(giveBack);
      } catch (error) {
        if (StoreError.is(error, 'LOG_CLOSED'))
          throw new A2AError('UNSUPPORTED_OPERATION', 'The task is finished');
        throw error;
      } finally {
        tasks.release(live);
      }
    },
    ready: async () => (await readiness()).isReady,
    readiness,
    prune: ({ closedBefore, limit = 1_000 }) => store.prune({ closedBefore: isoTime(closedBefore), limit }),
    async close({ graceMs = 10_000 } = {}) {
      open = false;
      leaveName();
      await claimer.close();
      const deadline = clock.monotonic() + graceMs;
      await runner.drain(graceMs);
      // Only now: whoever waits for a turn that was allowed to finish hears how it ended.
      tasks.close();
      await deliverer?.close(Math.max(0, deadline - clock.monotonic()));
    },
  };
}

/** Whether a card that lists its interfaces lists this one. Spec: §3.6.2. */
const isListed = ({ supportedInterfaces }: AgentCard, { name, version }: ServerBinding): boolean =>
  supportedInterfaces.length === 0 ||
  supportedInterfaces.some(
    ({ protocolBinding, protocolVersion }) =>
      protocolBinding === name && parseVersion(protocolVersion) === version,
  );
