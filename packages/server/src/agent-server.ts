import {
  type AnswerCall,
  type CallTarget,
  httpJsonServer,
  jsonRpcServer,
  type ServerBinding,
} from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { parseVersion } from '@batonjs/protocol/headers';
import { withDefaults } from '@batonjs/protocol/options';
import { isTaskAgent } from './agent/agent.ts';
import type { OpenedCallback } from './agent/callback.ts';
import { keepWatched, RequestWatch } from './base/hooks/request-watch.ts';
import type { Limits } from './base/limits.ts';
import type { Readiness } from './base/store/versions.ts';
import { streamOptions } from './base/timeouts.ts';
import { isoTime } from './base/timing/clock.ts';
import { answerInTime } from './base/timing/within-deadline.ts';
import { withCallbacks } from './front/callbacks/callbacks.ts';
import type { AnsweringParts } from './front/calls/answer-call.ts';
import { createAnswerCall, createCallsOf, createCheckCaller } from './front/calls/call-target.ts';
import { createCallerLimiter, withRequiredScopes } from './front/calls/caller-limits.ts';
import { withFiles } from './front/files/files.ts';
import { completeCors, tusHeaders, withCors } from './front/http/cors.ts';
import { createFetch } from './front/http/fetch.ts';
import { createHandler, type HttpOptions } from './front/http/handler.ts';
import { type Handle, withOwnHost } from './front/http/request-body.ts';
import { submitMessage } from './operations/accept/accept-message.ts';
import { mayBegin } from './operations/accept/check-unfinished.ts';
import type { Dependencies, OperationOptions } from './operations/call/call-context.ts';
import { keepInside } from './operations/call/inside-of.ts';
import {
  type AnswerLinkOptions,
  openAnswerLink,
  openInboxLink,
} from './operations/callbacks/open-answer-link.ts';
import { type CardInput, derivedMembers, takeName } from './operations/card/derived-members.ts';
import { credentialHeaders } from './operations/card/security.ts';
import { completeCard, createServedCards, mustBeNamed } from './operations/card/served-cards.ts';
import { type DueRun, type RunDueOptions, runDue, workInCall } from './operations/recurring/run-due.ts';
import { startSchedules } from './operations/recurring/start-schedules.ts';
import { wakeTask } from './operations/wake-task.ts';
import type { AgentServerOptions } from './options.ts';
import { createRun, createRuntime, type Runtime } from './runtime.ts';
import type { TurnOptions } from './turns/turn-dependencies.ts';
import { type PushDeliveries, pushDeliveries } from './webhooks/webhooks.ts';

/** An agent that can be called. */
export interface AgentServer {
  /** The card, without interfaces unless they were given. */
  readonly card: AgentCard;
  /** The web-standard handler. Paths are below `publicUrl`, or below the origin without it. */
  fetch(request: Request): Promise<Response>;
  /**
   * Works on all that is due, under `run: 'due'`: turns, schedules, deadlines, deliveries, retention. When it resolves, all
   * that it began is ended or given back: turns that take longer go on in the next run.
   */
  runDue(options: RunDueOptions): Promise<DueRun>;
  /** The handler that adapters of HTTP frameworks call. */
  readonly handle: Handle;
  /** Answers calls of bindings that are not HTTP, with the same checks: `listenGrpc` of `@batonjs/bindings-grpc`. */
  readonly answerCall: AnswerCall;
  /** Finds out who opens a connection for several calls: `attachWebSocket` of `@batonjs/bindings-websocket`. */
  readonly checkCaller: CallTarget['checkCaller'];
  /**
   * Lists an interface in the cards, after those of the bindings, until the returned function is called. Cards that were
   * given interfaces list only those.
   */
  addInterface(entry: AgentInterface): () => void;
  /** The limits, with the defaults. */
  readonly limits: Limits;
  /**
   * Starts another turn of the task whose agent gave out this `turn.wakeKey`, without a client's message. Rejects with
   * an `A2AError`: `TASK_NOT_FOUND`, or `UNSUPPORTED_OPERATION` if the task has ended.
   */
  wake(wakeKey: string, metadata?: Record<string, unknown>): Promise<void>;
  /** Whether it accepts requests and its store takes writes, which is tried at most once a second. */
  ready(): Promise<boolean>;
  /** Like `ready`, with the reason if it is not: a full disk, for example. Not for clients. */
  readiness(): Promise<Readiness>;
  /** The webhooks that were given up, and a way to try them again. */
  readonly push: PushDeliveries;
  /** Aborted when `close` is called. */
  readonly closing: AbortSignal;
  /** How many turns run here, and how many tasks are held in memory. */
  readonly load: { readonly turns: number; readonly tasks: number };
  /**
   * Deletes tasks that ended before a time (milliseconds since 1970) and have nothing undelivered. Resolves to how
   * many. Tasks that wait for an answer have not ended: see `timeouts.interruptedMs`.
   */
  prune(options: { closedBefore: number; limit?: number }): Promise<number>;
  /**
   * A link to a page with the question that a task waits with, on which one person answers it without a login. Needs
   * `callbacks`. Rejects with an `A2AError`: `TASK_NOT_FOUND`, or `UNSUPPORTED_OPERATION` if the task asks nothing.
   */
  answerLink(taskId: string, options: AnswerLinkOptions): Promise<OpenedCallback>;
  /**
   * A link to a page with the open questions of one person: those of the tasks of one caller to which the person has a link
   * of `answerLink`, of `turn.callback` or of an operator. Up to 20, of the newest 100 tasks that wait. Needs `callbacks`.
   */
  inboxLink(options: Omit<AnswerLinkOptions, 'assignedBy'>): Promise<OpenedCallback>;
  /**
   * Accepts nothing more, waits up to `graceMs` milliseconds (default 10,000) for running turns and deliveries, ends
   * the rest (FAILED under `restart: 'fail'`, handed back to other processes under `'rerun'`), and ends all streams.
   * The store stays open.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Makes an agent callable. Starts at once to recover tasks that other processes left. Throws `TypeError` for options
 * that cannot work.
 */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  mustBeNamed(options.card);
  mustBeUrl(options.publicUrl);
  const runtime = createRuntime(options, options.run ?? 'here');
  const { tasks, runner, claimer, push, readiness } = runtime;
  const { store } = runtime.dependencies;
  const { queue, compatibility } = runtime.dependencies.options;
  const closing = new AbortController();
  const publicUrl = options.publicUrl?.replace(/(?<!\/)\/+$/, '');
  const added: AgentInterface[] = [];
  const { card, cards, bindings } = cardsOf(options, runtime, added, publicUrl);
  const dependencies: Dependencies = {
    ...runtime.dependencies,
    card,
    cards,
    tasks,
    runner,
    claimer,
    push,
    isOpen: () => !closing.signal.aborted,
    work: options.run === 'due' ? (task) => workInCall(source, task) : undefined,
    options: { ...runtime.dependencies.options, ...ofOperations(options) },
  };
  const hasAuthenticate = options.authenticate !== undefined;
  const parts = answeringParts(options, dependencies);
  const watch = new RequestWatch();
  const cors = completeCors(options.cors, credentialHeaders(card).concat(options.files ? tusHeaders : []));
  const handleWith = (ask?: HttpOptions['ask']): Handle => {
    const answer = createHandler({ ...parts, bindings, compatibility, watch, ask });
    const answered = withOwnHost(withFiles(answer, parts), { hasAuthenticate, publicUrl });
    return withCallbacks(withCors(answered, cors), dependencies);
  };
  const handle = handleWith();
  const mount = publicUrl ? new URL(publicUrl).pathname : '';
  const leaveName = takeName(options.store, queue, options.card);
  const schedules = startSchedules(options.schedules, dependencies);
  const begin = createRun.bind(undefined, options);
  const source = { ...dependencies, closing: closing.signal, begin, schedules };
  void runtime.start();

  const server: AgentServer = {
    card,
    handle,
    answerCall: createAnswerCall(parts, watch),
    checkCaller: createCheckCaller(parts),
    closing: closing.signal,
    addInterface: (entry) => listed(added, entry),
    limits: dependencies.options.limits,
    push: pushDeliveries(push, queue),
    fetch: createFetch(handle, mount),
    runDue: async (given) => (await runDue(source, given))!,
    get load() {
      return { turns: runner.running, tasks: tasks.size };
    },
    wake: (wakeKey, metadata) => wakeTask(wakeKey, metadata, dependencies),
    ready: async () => (await readiness()).isReady,
    readiness,
    prune: ({ closedBefore, limit = 1_000 }) => store.prune({ closedBefore: isoTime(closedBefore), limit }),
    answerLink: (taskId, options) => openAnswerLink(taskId, options, dependencies),
    inboxLink: (options) => openInboxLink(options, dependencies),
    async close({ graceMs = 10_000 } = {}) {
      closing.abort();
      leaveName();
      await Promise.all([schedules?.close(), runtime.close(graceMs)]);
    },
  };
  return keepInside(keepWatched(server, options.telemetry), {
    name: queue,
    store: options.store,
    publicUrl,
    logger: dependencies.logger,
    watch,
    dependencies,
    closing: closing.signal,
    runDue: runDue.bind(undefined, source),
    mayBegin: (scope) => mayBegin(scope, dependencies),
    callsOf: createCallsOf(parts, (ask, remoteAddress) => {
      const answer = handleWith(ask);
      return createFetch((exchange) => answer({ ...exchange, remoteAddress }), mount);
    }),
    submit: (request, caller) => submitMessage(request, caller, dependencies),
  });
}

/** The card, the cards that clients get, and the bindings of HTTP that it lists. Throws `TypeError` for a card that cannot work. */
function cardsOf(
  options: AgentServerOptions,
  { push, dependencies }: Runtime,
  added: readonly AgentInterface[],
  publicUrl: string | undefined,
) {
  const inTime = timeLimit(dependencies);
  const extended = inTime('card.extended', options.card.extended);
  const sign = inTime('card.sign', options.card.sign);
  const { messages, preview, compatibility, files } = dependencies.options;
  const hasPush = push !== undefined;
  const derived = derivedMembers({ ...options, idempotency: messages.idempotency, preview, files }, hasPush);
  const card = completeCard(options.card, derived);
  if (card.capabilities.pushNotifications && !hasPush)
    throw new TypeError(
      '`card.capabilities.pushNotifications` needs a store that keeps webhooks, and `push`',
    );
  const bindings: HttpOptions['bindings'] = [
    ...(options.bindings ?? ([jsonRpcServer, httpJsonServer] as const)),
    ...compatibility.flatMap(({ bindings }) => bindings).filter((binding) => isListed(card, binding)),
  ];
  const complete = (members: Partial<CardInput>) => completeCard({ ...options.card, ...members }, derived);
  const cards = createServedCards({ card, complete, extended, sign, bindings, added, publicUrl });
  return { card, cards, bindings };
}

type InTime = <T>(name: string, given: T) => T;

/** Limits how long a request waits for a function of the options. Anything else is as it was. */
function timeLimit({ clock, options: { timeouts } }: Runtime['dependencies']): InTime {
  return (name, given) =>
    typeof given === 'function'
      ? (answerInTime(name, given as never, timeouts.storeMs, clock) as typeof given)
      : given;
}

/** Who may call, how often, and in which tenants. Throws `TypeError` for options that cannot work. */
function answeringParts(
  { authenticate, card: { tenants }, limits: { callers: limits } = {} }: AgentServerOptions,
  dependencies: Dependencies,
): AnsweringParts {
  const { store, card, options } = dependencies;
  const { queue } = options;
  const inTime = timeLimit(dependencies);
  const limiter = createCallerLimiter({ limits, store, queue, hasAuthenticate: authenticate !== undefined });
  const admission = { authenticate: withRequiredScopes(inTime('authenticate', authenticate), card), limiter };
  return { dependencies, admission, tenants: inTime('card.tenants', tenants) };
}

/** What operations need besides the options of turns. */
const ofOperations = ({
  agent,
  card,
  limits,
  streams,
}: AgentServerOptions): Omit<OperationOptions, keyof TurnOptions> => ({
  alwaysTask: isTaskAgent(agent),
  unfinishedTasks: limits?.callers?.unfinishedTasks,
  streams: withDefaults(streamOptions, streams),
  skillOf: card.skillOf,
});

/** Lists an interface until the returned function is called. */
function listed(added: AgentInterface[], entry: AgentInterface): () => void {
  added.push(entry);
  return () => {
    if (added.includes(entry)) added.splice(added.indexOf(entry), 1);
  };
}

/** Throws `TypeError`: a path alone would be found out by the first client. */
function mustBeUrl(publicUrl: string | undefined): void {
  if (publicUrl === undefined || (URL.canParse(publicUrl) && /^https?:$/.test(new URL(publicUrl).protocol)))
    return;
  throw new TypeError(
    `\`publicUrl\` must be the whole URL at which clients reach the agent, such as 'https://agents.example/weather', and is '${publicUrl}'`,
  );
}

/** Whether a card that lists its interfaces lists this one. Spec: §3.6.2. */
const isListed = ({ supportedInterfaces }: AgentCard, { name, version }: ServerBinding): boolean =>
  supportedInterfaces.length === 0 ||
  supportedInterfaces.some(
    ({ protocolBinding, protocolVersion }) =>
      protocolBinding === name && parseVersion(protocolVersion) === version,
  );
