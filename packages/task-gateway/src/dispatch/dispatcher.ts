import { A2AError, type AgentReply, ClientError, isTerminal } from '@batonjs/client';
import { callSkill, SkillError } from '@batonjs/extensions/client';
import { reach, Unreachable } from '@batonjs/nested-tasks/internals';
import type { Json, Struct } from '@batonjs/protocol';
import { errorTable } from '@batonjs/protocol/errors';
import { type Agent, emitting, type Logger, type Turn } from '@batonjs/server';
import { assignmentIn, type GatewayError } from '../tasks/gateway-task.ts';
import { type Report, reportTo } from './report.ts';
import { resultOfMessage } from './result.ts';
import { agentTaskOf, findTask, type Run, runAtAgent, UnknownOutcome } from './run-at-agent.ts';
import { checkedSkill, hasSkill, type Target, type Targets } from './targets.ts';

/** What dispatching needs to know. */
export interface DispatchSettings {
  readonly targets: Targets;
  readonly unreachableMs: number;
  readonly logger: Logger;
}

/** The agent behind the gateway's log: it hands each task to the agent of its type and records what becomes of it. */
export const dispatcher = (settings: DispatchSettings): Agent =>
  emitting(async (emit, turn) => {
    const report = reportTo(emit, turn);
    let run: Run | undefined;
    try {
      const { type, data } = assignmentIn(turn.messages[0]!);
      if (!settings.targets.has(type)) return await report.failed(unknownType(type));
      const target = await openTarget(type, turn, settings);
      if (!hasSkill(target)) return await report.failed(unknownType(type));
      run = { target, turn, report, unreachableMs: settings.unreachableMs };
      await conclude(await call(run, data), report);
    } catch (error) {
      if (!turn.signal.aborted) return report.failed(toFailure(error, turn, settings.logger));
      const isLost = codeOf(turn.signal.reason) === 'FENCED' || codeOf(turn.signal.reason) === 'SHUTDOWN';
      // The agent goes on: the next attempt attaches to it.
      if (isLost) throw error;
      const reply = await (run ? cancelAtAgent(run) : undefined)?.catch(() => undefined);
      if (codeOf(turn.signal.reason) !== 'CANCELED') throw error;
      if (reply?.task && isTerminal(reply.task)) await report.ended(reply.task);
      else await report.canceled();
    }
  });

/** Cancels the task at the agent where no turn of the gateway works on it: its process died. */
export const cancelWaiting =
  (settings: DispatchSettings) =>
  async (turn: Turn): Promise<void> => {
    const { type } = assignmentIn(turn.messages[0]!);
    if (!settings.targets.has(type) || !agentTaskOf(turn)) return;
    const target = await settings.targets.open(type);
    await cancelAtAgent({ target, turn, unreachableMs: settings.unreachableMs } as Run);
  };

const openTarget = (type: string, { signal }: Turn, { targets, unreachableMs }: DispatchSettings) =>
  reach<Target>(() => targets.open(type), { forMs: unreachableMs, signal, repeatable: true });

/** Calls the agent. A typed skill has its input checked before, and its output afterwards. */
async function call(run: Run, data: Json): Promise<AgentReply & { readonly output?: Json }> {
  const skillId = checkedSkill(run.target);
  if (skillId === undefined) return runAtAgent(run, data, {});
  const { card } = run.target.agent;
  const send = (_: unknown, { metadata = {} }: { readonly metadata?: Struct } = {}) =>
    runAtAgent(run, data, metadata);
  return callSkill({ card, send }, skillId, data);
}

async function conclude(
  { task, message, output }: AgentReply & { readonly output?: Json },
  report: Report,
): Promise<void> {
  if (message) return report.result(resultOfMessage(message));
  if (task) await report.ended(task, output);
}

/** Cancels the task at the agent and gives it as it is then; undefined if the agent has none. */
async function cancelAtAgent(run: Run): Promise<AgentReply | undefined> {
  const { target, turn } = run;
  const id = agentTaskOf(turn) ?? (await findTask(run));
  if (id === undefined) return undefined;
  const task = await target.agent.cancelTask({ id }).catch((error) => {
    if (A2AError.is(error, 'TASK_NOT_CANCELABLE')) return target.agent.getTask({ id });
    throw error;
  });
  return { task };
}

const unknownType = (type: string): GatewayError => ({
  code: 'INVALID_TASK_TYPE',
  message: `There is no task type ${JSON.stringify(type)}`,
});

/** Errors about the gateway itself: their text may repeat the credentials that it calls the agent with. */
const ofGateway: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'PERMISSION_DENIED', 'INTERNAL_ERROR']);

/** What clients are shown of an error. Only errors of the agent and of its data say more than that it failed. */
function toFailure(error: unknown, { taskId }: Turn, logger: Logger): GatewayError {
  logger('warn', 'A task could not be done at its agent', { taskId, err: error });
  if (error instanceof Unreachable) return { code: 'AGENT_UNREACHABLE', message: error.message };
  if (error instanceof UnknownOutcome) return { code: 'OUTCOME_UNKNOWN', message: error.message };
  if (SkillError.is(error)) {
    const issues = error.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    return { code: error.code, message: [error.message, ...issues].join('; ') };
  }
  if (A2AError.is(error, 'UNAVAILABLE') || A2AError.is(error, 'RESOURCE_EXHAUSTED'))
    return { code: 'AGENT_UNREACHABLE', message: 'The agent is not available' };
  if (A2AError.is(error)) {
    const { reason, message } = error;
    return { code: reason, message: ofGateway.has(reason) ? errorTable[reason].message : message };
  }
  if (ClientError.is(error, 'NETWORK'))
    return { code: 'AGENT_UNREACHABLE', message: 'The agent cannot be reached' };
  if (ClientError.is(error, 'TIMEOUT'))
    return { code: 'TIMEOUT', message: 'The agent did not answer in time' };
  if (ClientError.is(error)) return { code: 'AGENT_FAILED', message: 'The agent cannot be used' };
  return { code: 'INTERNAL_ERROR', message: 'The gateway failed' };
}

const codeOf = (reason: unknown): unknown => Object(reason).code;
