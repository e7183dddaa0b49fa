import type { AgentCard, AgentInterface, Part, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { IMPLIED_VERSION } from '@batonjs/protocol/headers';
import {
  methodName,
  type OperationName,
  operationNames,
  operations,
  type Params,
  type Reply,
} from '@batonjs/protocol/operations';
import { onlyAgentOf } from './card/catalog.ts';
import { cardUrl, checkTrust, parseCard, readCard } from './card/read-card.ts';
import { startDeadline } from './connection/call-deadline.ts';
import { candidatesOf } from './connection/retries.ts';
import { Session, type StreamOptions } from './connection/session.ts';
import { type UploadContent, type UploadOptions, upload } from './connection/upload.ts';
import { idOf, type MessageInput, type SendOptions, toRequest } from './conversation/message-input.ts';
import { wholeTask } from './following/task-source.ts';
import { type FollowOptions, TaskStream } from './following/task-stream.ts';
import { type CallOptions, type ConnectOptions, toSettings } from './options/connect-options.ts';
import { type AgentReply, isInterrupted, isTerminal } from './replies/agent-reply.ts';

/** A client of one agent. */
export interface AgentClient extends AgentOperations {
  /** The agent's card; after `getExtendedAgentCard`, the extended one. */
  readonly card: AgentCard;
  /** The interface of the card that the client uses. */
  readonly interface: AgentInterface;
  /**
   * Reads the card again, unless the cached one is still fresh, and uses it. An extended card stays in use until the
   * agent's version changes.
   */
  readCard(options?: CallOptions): Promise<AgentCard>;
  /**
   * Sends a message and waits for the result: a message, or a task that has ended or waits for input. Where the agent
   * answers earlier, as agents on Baton do after 50 s (`timeouts.blockingMs`), the client goes on waiting within `timeoutMs`, and
   * then resolves to the task as it is. `stream(…).result()` waits until it ends. Spec: §3.1.1.
   */
  send(input: MessageInput, options?: SendOptions): Promise<AgentReply>;
  /** Sends a message and follows its task until the task ends or waits for an answer. Spec: §3.1.2. */
  stream(input: MessageInput, options?: SendOptions & Omit<FollowOptions, 'lastEventId'>): TaskStream;
  /**
   * Uploads a file of any size, and resolves to the part to send. Rejects with `UNSUPPORTED_OPERATION` if the agent's card
   * does not offer the extension `FILES`.
   */
  upload(content: UploadContent, options?: UploadOptions): Promise<Part>;
  /** Follows a task until it ends. Spec: §3.1.6. */
  follow(task: Task | string, options?: FollowOptions): TaskStream;
  /** The operations on one task. Sends no request. */
  task(task: Task | string): TaskHandle;
}

/** The operations on one task. */
export interface TaskHandle {
  readonly id: string;
  get(options?: CallOptions): Promise<Task>;
  /**
   * Waits until the task is beyond a generation, or has ended, and resolves to it; without `after`, to the task as it is,
   * with its generation. Rejects with `UNSUPPORTED_OPERATION` if the card does not offer the extension `GENERATION`, and
   * with `INVALID_AGENT_RESPONSE` if the agent does not count all the same.
   */
  next(after?: string, options?: CallOptions): Promise<Task>;
  cancel(options?: CallOptions): Promise<Task>;
  /** Sends a message to the task, such as the answer to its question. */
  send(input: MessageInput, options?: SendOptions): Promise<AgentReply>;
  /** Follows the task until it ends. */
  follow(options?: FollowOptions): TaskStream;
}

/** Creates the client of a session. `reread` reads the card again. */
function createAgentClient(
  session: Session,
  reread: (options?: CallOptions) => Promise<AgentCard>,
): AgentClient {
  const operations = agentOperations(session);
  const send = async (input: MessageInput, options: SendOptions = {}): Promise<AgentReply> => {
    const { clock, timeoutMs: usual } = session.settings;
    const began = clock.now();
    const request = toRequest(input, options);
    const reply = (await session.call('SendMessage', { ...request }, options)) as AgentReply;
    if (!reply.task || request.configuration?.returnImmediately) return reply;
    const { timeoutMs = usual } = options;
    const leftMs = timeoutMs && Math.max(1, timeoutMs - (clock.now() - began));
    const task = await settled(session, reply.task, { ...options, timeoutMs: leftMs });
    const { historyLength } = request.configuration ?? {};
    if (task === reply.task || historyLength === undefined) return { task };
    return { task: await operations.getTask({ id: task.id, historyLength }, options) };
  };
  const follow = (task: Task | string, options: FollowOptions = {}) =>
    new TaskStream(session, { taskId: idOf(task) }, options);
  return {
    ...operations,
    async getExtendedAgentCard(params, options) {
      const card = await operations.getExtendedAgentCard(params, options);
      await checkTrust(card, session.settings);
      session.use(card);
      return card;
    },
    get card() {
      return session.card;
    },
    get interface() {
      const { codec, address, ...entry } = session.candidates[session.current]!;
      return entry;
    },
    async readCard(options) {
      const { card: before } = session;
      const card = await reread(options);
      // The public card replaces an extended one only when the agent has a new version.
      if (card.version !== before.version || !before.capabilities?.extendedAgentCard) session.use(card);
      return session.card;
    },
    send,
    follow,
    upload: (content, options = {}) => upload(session, content, options),
    stream: (input, options = {}) => new TaskStream(session, { request: toRequest(input, options) }, options),
    task: (task) => {
      const id = idOf(task);
      return {
        id,
        get: (options) => operations.getTask({ id }, options),
        next: (after, options) => nextGeneration(session, id, after, options),
        cancel: (options) => operations.cancelTask({ id }, options),
        send: (input, options) => send(input, { task, ...options }),
        follow: (options) => follow(id, options),
      };
    },
  };
}

/** The arguments of an operation's method. Params without required members are optional. */
type Arguments<Name extends OperationName> =
  Record<never, never> extends Params<Name>
    ? [params?: Params<Name>, options?: CallOptions]
    : [params: Params<Name>, options?: CallOptions];

/**
 * The operations of A2A as methods. They fill in `tenant` from the card. They reject with an `A2AError` if the agent
 * answers with an error, and with a `ClientError` if the call fails on the client's side. A stream opens when you
 * iterate it. The stream of `subscribeToTask` begins with the task. An agent of A2A 0.3 sends only what comes next: the
 * client then reads the task at the first update, and the stream fails if that fails. Spec: §5.3.
 */
export type AgentOperations = {
  readonly [Name in OperationName as Uncapitalize<Name>]: (...args: Arguments<Name>) => Reply<Name>;
};

/** Creates one method per row of the operation table. */
const agentOperations = (session: Session): AgentOperations => {
  const method =
    (name: OperationName) =>
    (params: Readonly<Record<string, unknown>> = {}, options?: CallOptions) =>
      operations[name].kind === 'stream'
        ? events(session, name, params, options)
        : session.call(name, params, options);
  const methods: Record<string, unknown> = {};
  for (const name of operationNames) methods[methodName(name)] = method(name);
  return methods as AgentOperations;
};

async function* events(
  session: Session,
  name: OperationName,
  params: Readonly<Record<string, unknown>>,
  options?: StreamOptions,
) {
  const events = session.stream(name, params, options);
  // Those of 0.3 begin with the next update, where those of 1.0 begin with the task. Spec: §3.1.6.
  const isOlder = name === 'SubscribeToTask' && session.version === IMPLIED_VERSION;
  for await (const { event } of isOlder ? wholeTask(session, params.id as string, events, options) : events) {
    // Empty until the task is read.
    if (!isOlder || Object.keys(event).length > 0) yield event;
  }
}

/** Polls a task until it is beyond a generation or has ended. An agent may answer each poll earlier. */
async function nextGeneration(
  session: Session,
  id: string,
  // Every task is beyond 0.
  after = '0',
  options?: CallOptions,
): Promise<Task> {
  for (;;) {
    const task = (await session.call('GetTask', { id, currentGeneration: after }, options)) as Task;
    const generation = Number(task.generation);
    // An agent that offers generations and sends none has ignored the parameter.
    if (!generation) throw new A2AError('INVALID_AGENT_RESPONSE');
    if (generation > +after || isTerminal(task)) return task;
  }
}

/**
 * Waits until a task has ended or asks, for `timeoutMs`, and resolves to it as it is then. An agent that can be neither
 * followed nor polled has said all that it will.
 */
async function settled(session: Session, task: Task, options: CallOptions): Promise<Task> {
  if (isTerminal(task) || isInterrupted(task)) return task;
  const deadline = startDeadline(options, session.settings, session.address);
  const stream = new TaskStream(session, { taskId: task.id }, { ...options, signal: deadline.signal });
  try {
    for await (const _ of stream) if (stream.task && isInterrupted(stream.task)) break;
  } catch (error) {
    if (options.signal?.aborted) throw error;
  } finally {
    deadline.close();
  }
  return stream.task ?? task;
}

/**
 * Reads an agent's card and chooses an interface: the first one that this client supports. A URL is either the agent's,
 * with the card below it, or the card's own. An origin without a card may list its one agent in an AI Catalog; of several,
 * the error names them, as `agentsOf` does. Rejects with a `ClientError`: `NETWORK`, `INVALID_CARD`, `INVALID_URL`,
 * `UNTRUSTED_CARD` or `NO_INTERFACE`. Spec: §8.2, §8.3.2.
 */
export async function connect(
  agent: string | URL | AgentCard,
  options: ConnectOptions = {},
): Promise<AgentClient> {
  const settings = toSettings(options);
  if (typeof agent === 'object' && !(agent instanceof URL)) {
    await checkTrust(agent, settings);
    const card = parseCard(agent, settings) as AgentCard;
    for (const { address } of candidatesOf(card, settings)) settings.origins.add(new URL(address).origin);
    return createAgentClient(new Session(card, settings), async () => card);
  }
  const url = cardUrl(agent);
  settings.origins.add(new URL(url).origin);
  let at: string | AgentCard = url;
  const read = async (call?: CallOptions) => {
    if (typeof at === 'string') return readCard(at, settings, call);
    await checkTrust(at, settings);
    return parseCard(at, settings) as AgentCard;
  };
  const card = await read().catch(async (error: unknown) => {
    at = await onlyAgentOf(agent, error, settings);
    return read();
  });
  return createAgentClient(new Session(card, settings), read);
}
