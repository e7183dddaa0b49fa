import { type Command, decide, evolve, type Fact, isTerminal, type State } from '@batonjs/lifecycle';
import { failureCodeOf, recordedIn, weigh, whenFull } from '@batonjs/lifecycle/internals';
import type { TaskState } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Scope, StoredFact } from '@batonjs/store';
import type { Limits } from '../../base/limits.ts';
import type { LiveTask } from '../live-task.ts';

/** The facts that commands lead to, and the state after them. */
export interface Decision {
  readonly facts: readonly Fact[];
  readonly state: State | undefined;
}

/** Decides several commands in order, each on the state after the one before. Throws as `decide` does. */
export function decideAll(state: State | undefined, commands: readonly Command[], now: string): Decision {
  const facts: Fact[] = [];
  let next = state;
  for (const command of commands) {
    for (const fact of decide(next, command, now)) {
      facts.push(fact);
      next = evolve(next, fact);
    }
  }
  return { facts, state: next };
}

type TaskLimits = Pick<Limits, 'factsPerTask' | 'bytesPerTask'>;
type DecisionLimits = TaskLimits & Pick<Limits, 'memoryBytes'>;

/**
 * How many bytes a full task still accepts of the update that ends it, and again of the last states of its children and
 * of what that update remembers.
 */
const lastWords = 64 * 1024;

/** Throws `RESOURCE_EXHAUSTED` if a decision makes the log of a task longer or larger than the limits. */
export function checkDecided({ facts, state }: Decision, limits: DecisionLimits): void {
  if (state?.agent) checkMemory(facts, state, limits);
  const { factsPerTask, bytesPerTask } = limits;
  if (!state || (state.version <= factsPerTask && state.weight <= bytesPerTask)) return;
  if (facts[0]?.type === 'turn-started') return;
  const insides = facts.filter(isInside);
  const isLast = state.closed && sizeOf(insides) <= lastWords;
  if (!facts.every((fact) => isAllowedBeyond(fact) || (isLast && isInside(fact)))) throw tooLarge();
}

const insides: ReadonlySet<string> = new Set(Object.values(recordedIn));
const isInside = ({ type }: Fact): boolean => insides.has(type);

const sizeOf = (facts: readonly Fact[]): number => facts.reduce((sum, fact) => sum + weigh(fact), 0);

/** Whether a full log still takes a fact: it does if the task needs the fact to be canceled, run or ended. */
function isAllowedBeyond(fact: Fact): boolean {
  if (fact.type === 'status-changed' && !isTerminal(fact.status.state)) return false;
  const taken = whenFull(fact);
  return taken === 'yes' || (taken === 'small' && weigh(fact) <= lastWords);
}

interface Size {
  readonly facts: number;
  readonly bytes: number;
}

/** How much this process is appending to the log of a task: it is not in the known state yet. */
const underWay = new WeakMap<LiveTask, Size>();

/**
 * Reserves a part of the limits of a log for facts that are about to be appended at its end. The caller calls the returned
 * function when the facts are in the known state, or were not appended. Throws `RESOURCE_EXHAUSTED` if too little is left.
 */
export function reserveSize(
  live: LiveTask,
  facts: readonly Fact[],
  { factsPerTask, bytesPerTask }: TaskLimits,
): () => void {
  if (facts.length === 0) return () => {};
  const own = { facts: facts.length, bytes: sizeOf(facts) };
  const others = underWay.get(live) ?? { facts: 0, bytes: 0 };
  const { version, weight } = live.state;
  if (version + others.facts + own.facts > factsPerTask || weight + others.bytes + own.bytes > bytesPerTask)
    throw tooLarge();
  change(live, own, 1);
  return () => change(live, own, -1);
}

function change(live: LiveTask, { facts, bytes }: Size, sign: 1 | -1): void {
  const known = underWay.get(live) ?? { facts: 0, bytes: 0 };
  underWay.set(live, { facts: known.facts + sign * facts, bytes: known.bytes + sign * bytes });
}

const tooLarge = (): A2AError =>
  new A2AError('RESOURCE_EXHAUSTED', 'The task has reached the size limit of this server');

/**
 * Throws `RESOURCE_EXHAUSTED` if facts make what an agent keeps larger than `limits.memoryBytes`. Its cause, a
 * `RangeError`, names keys and sizes: clients see the first, and agents are told the second.
 */
export function checkMemory(
  facts: readonly Fact[],
  { agent }: State,
  { memoryBytes }: Pick<Limits, 'memoryBytes'>,
): void {
  if (!agent || agent.memoryBytes <= memoryBytes) return;
  const added = facts.flatMap((fact) =>
    fact.type === 'memory-changed'
      ? Object.entries(fact.changes).map(([key, value]) => sized(`The memory "${key}"`, key, value))
      : fact.type === 'step-completed' && fact.keep
        ? [sized(`The result of the step "${fact.name}"`, fact.name, fact.result)]
        : [],
  );
  // To forget something is always allowed.
  if (added.length === 0) return;
  const all = `all that the task keeps would have ${agent.memoryBytes} of ${memoryBytes} (\`limits.memoryBytes\`)`;
  const cause = new RangeError(`${added.join(', ')}; ${all}`);
  throw new A2AError('RESOURCE_EXHAUSTED', 'The task keeps more than this server allows', { cause });
}

const sized = (what: string, key: string, value: unknown): string =>
  `${what} has ${weigh({ [key]: value })} bytes`;

/** The error that an agent is told: it names keys and sizes. Any other error is itself. */
export const memoryErrorOf = (error: unknown): unknown =>
  A2AError.is(error, 'RESOURCE_EXHAUSTED') && error.cause instanceof RangeError ? error.cause : error;

/** Rejects with the error that agents are told. */
export async function storing(write: () => unknown): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw memoryErrorOf(error);
  }
}

/** A task changed its state. */
export interface Transition {
  readonly type: 'transition';
  readonly taskId: string;
  readonly contextId: string;
  /** Whose task it is: the `scope` that `authenticate` returned. Undefined where callers are not authenticated. */
  readonly caller?: string;
  readonly tenant?: string;
  /** Undefined when the task was created. */
  readonly from: TaskState | undefined;
  readonly to: TaskState;
  /** The code with which the task failed, if it has one. */
  readonly code?: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
}

/** A task of which facts were committed, as it is now. */
export type Changed = Pick<LiveTask, 'scope' | 'taskId' | 'state'>;

/** Reports every change of the task's state among facts that were committed after `before`. */
export function reportTransitions(
  before: State | undefined,
  live: Changed,
  facts: readonly StoredFact[],
  report: (transition: Transition, live: Changed) => void,
): void {
  const { scope, taskId, state } = live;
  let from = before?.task?.status.state;
  let contextId = before?.contextId ?? '';
  for (const { fact } of facts) {
    if (fact.type === 'message-received') contextId ||= fact.message.contextId ?? '';
    if (fact.type === 'task-created') contextId = fact.contextId;
    const to =
      fact.type === 'task-created'
        ? 'TASK_STATE_SUBMITTED'
        : fact.type === 'status-changed'
          ? fact.status.state
          : undefined;
    if (!to || to === from) continue;
    const transition = {
      type: 'transition' as const,
      taskId,
      contextId,
      ...ownerOf(scope, state),
      from,
      to,
      at: fact.at,
    };
    const code =
      to === 'TASK_STATE_FAILED' && fact.type === 'status-changed' ? failureCodeOf(fact.status) : undefined;
    report(code === undefined ? transition : { ...transition, code }, live);
    from = to;
  }
}

/** The caller and the tenant of a scope. A scope that is too long for stores is a hash, and then messages name the caller. */
function ownerOf(scope: Scope, { taken, pending }: State): Pick<Transition, 'caller' | 'tenant'> {
  if (!scope.startsWith('[')) {
    const caller = (pending[0] ?? taken[0])?.caller?.scope;
    return typeof caller === 'string' ? { caller } : {};
  }
  if (latest?.scope !== scope) {
    const [, tenant = '', caller = '']: string[] = JSON.parse(scope);
    latest = { scope, owner: { ...(caller !== '' && { caller }), ...(tenant !== '' && { tenant }) } };
  }
  return latest.owner;
}

/** The next change is usually of the same caller. */
let latest: { readonly scope: Scope; readonly owner: Pick<Transition, 'caller' | 'tenant'> } | undefined;
