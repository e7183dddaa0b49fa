import type { AgentEvent } from '@batonjs/client';
import type { Fact, FactOf } from '@batonjs/lifecycle';
import type { Call } from '../../api/model-calls.ts';
import type { Entry, Notice, PartMembers } from '../../api/timeline.ts';
import { callName, callText } from '../models/totals.ts';
import type { IconName } from '../parts/bits.tsx';
import {
  dateTime,
  fileSize,
  oneLine,
  plural,
  saidBeside,
  shortId,
  stateClass,
  stateName,
} from '../parts/words.ts';

/** An entry as a row shows it. */
export interface Described {
  readonly icon: IconName;
  readonly label: string;
  readonly text: string;
  /** How it looks: `user`, `agent`, `turn`, `notice`, `lost`, `resumed`, or the state of the task. */
  readonly tone: string;
}

/** Describes an entry in a few words. */
export function describeEntry({ fact, event, message, notice, call }: Entry): Described {
  if (call) return describeCall(call);
  if (fact) return describeFact(fact);
  if (event) return describeEvent(event as AgentEvent);
  if (message) return said(message.role === 'ROLE_AGENT' ? 'Agent' : 'Message', message.parts, message.role);
  return notice ? describeConnection(notice) : is('message', 'Entry', '', 'notice');
}

const is = (icon: IconName, label: string, text = '', tone = 'turn'): Described => ({
  icon,
  label,
  text,
  tone,
});

const describeCall = (call: Call): Described =>
  is(
    'step',
    `${call.kind === 'model' ? 'Model' : 'Tool'} ${callName(call)}`,
    callText(call),
    call.kind === 'tool' && call.isFailed ? 'lost' : 'turn',
  );

/** Each type of fact in a few words. */
const facts: { readonly [Type in Fact['type']]: (fact: FactOf<Type>) => Described } = {
  'message-received': ({ message, caller, forked }) => {
    const { answeredBy } = caller ?? {};
    const from = typeof answeredBy === 'string' ? `Answer of ${answeredBy}` : 'Message';
    return said(forked ? `Fork of ${shortId(forked.taskId)}` : from, message.parts, 'ROLE_USER');
  },
  'task-created': ({ taskId }) => is('tasks', 'Task created', shortId(taskId)),
  answered: ({ message }) => said('Answer', message.parts, 'ROLE_AGENT'),
  'turn-started': ({ turn, attempt }) =>
    attempt > 1
      ? is('turn', `Turn ${turn} again`, `attempt ${attempt}`, 'again')
      : is('turn', `Turn ${turn}`, 'started'),
  'turn-ended': ({ turn }) => is('turn', `Turn ${turn}`, 'ended'),
  'turn-failed': (fact) => is('turn', `Turn ${fact.turn} failed`, failureText(fact), 'lost'),
  'turn-paused': ({ turn, until }) => is('deadline', `Turn ${turn}`, `paused until ${dateTime(until)}`),
  'message-taken': ({ turn }) => is('message', 'Message taken', `by turn ${turn}`),
  woken: () => is('turn', 'Woken', 'a turn without a message'),
  'wake-set': ({ time }) => is('deadline', 'Wake set', time ? `at ${dateTime(time)}` : 'at no time any more'),
  'cancel-requested': () => is('cancel', 'Cancel requested', '', 'canceled'),
  'step-completed': ({ name, result }) => is('step', `Step ${name}`, jsonLine(result)),
  'step-failed': (fact) => is('step', `Step ${fact.name} failed`, failureText(fact), 'lost'),
  'memory-changed': ({ changes, removed = [] }) => {
    const set = Object.entries(changes).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    return is('step', 'Memory', oneLine([...set, ...removed.map((name) => `${name} forgotten`)].join(', ')));
  },
  'turn-logged': ({ lines, full }) => {
    const [first, ...more] = lines;
    const also = more.length > 0 && `and ${plural(more.length, 'more line')}`;
    const text = [first?.text, also, full && 'no more lines are kept'].filter(Boolean).join(' · ');
    const hasError = lines.some(({ level }) => level === 'error');
    return is('message', 'Log', oneLine(text), hasError ? 'lost' : 'turn');
  },
  'labels-set': ({ labels }) => is('step', 'Labels', oneLine(labels.join(', '))),
  'callback-opened': ({ name, answers, expiresAt }) => {
    const until = `until ${dateTime(expiresAt)}`;
    if (!answers) return is('connection', `Callback ${name}`, until);
    const chosen = answers.assignedBy ? `chosen by ${answers.assignedBy}, ` : '';
    return is('lock', `Answer link for ${answers.by}`, chosen + until);
  },
  'callback-received': ({ name, value }) =>
    is('connection', `Callback ${name} received`, jsonLine(value), 'user'),
  'child-updated': ({ name, child: { agent, taskId, state } }) => {
    const text = [agent, taskId && shortId(taskId), state && stateName(state)].filter(Boolean).join(' · ');
    return is('graph', `Child ${name}`, text);
  },
  'status-changed': ({ status }) => statusOf(status.state, status.message?.parts),
  'artifact-updated': ({ artifact, append }) => artifactOf(artifact, append),
};

function describeFact(fact: Fact): Described {
  if (Object.hasOwn(facts, fact.type)) return (facts[fact.type] as (fact: Fact) => Described)(fact);
  // The inspector of an older release shows a newer agent.
  return is('message', String(Object(fact).type ?? 'fact'), '', 'notice');
}

const jsonLine = (value: unknown): string => oneLine(JSON.stringify(value) ?? '');

/** Which attempt failed, why, and when the next one is. */
const failureText = ({ attempt, message, retryAt }: FactOf<'step-failed' | 'turn-failed'>): string =>
  oneLine(
    [`attempt ${attempt}`, message, retryAt ? `again at ${dateTime(retryAt)}` : 'not tried again'].join(
      ' · ',
    ),
  );

function describeEvent({ task, message, statusUpdate, artifactUpdate }: AgentEvent): Described {
  if (task) return is('tasks', 'Task read again', stateName(task.status.state));
  if (message) return said('Answer', message.parts, 'ROLE_AGENT');
  if (statusUpdate) return statusOf(statusUpdate.status.state, statusUpdate.status.message?.parts);
  return artifactUpdate
    ? artifactOf(artifactUpdate.artifact, artifactUpdate.append)
    : is('message', 'Unknown event', '', 'notice');
}

const statusOf = (state: string, parts: readonly PartMembers[] = []): Described =>
  is(iconOf(state), stateName(state), saidBeside(state, summary(wordsIn(parts))), stateClass(state));

/** The texts of a status; its data, such as the code of an error, only where there is none. */
function wordsIn(parts: readonly PartMembers[]): readonly PartMembers[] {
  const texts = parts.filter(({ text }) => text);
  return texts.length > 0 ? texts : parts;
}

const iconOf = (state: string): IconName =>
  (({ COMPLETED: 'check', FAILED: 'warning', REJECTED: 'warning', CANCELED: 'cancel' }) as const)[
    state.replace('TASK_STATE_', '') as 'FAILED'
  ] ?? 'status';

const artifactOf = (
  { name, artifactId, parts }: { name?: string; artifactId: string; parts: readonly PartMembers[] },
  isChunk = false,
): Described =>
  is(
    'artifact',
    isChunk ? 'Chunk' : 'Artifact',
    [name || (isChunk ? '' : artifactId), summary(parts)].filter(Boolean).join(': '),
    isChunk ? 'chunk' : 'artifact',
  );

const said = (label: string, parts: readonly PartMembers[], role: string): Described =>
  is('message', label, summary(parts), role === 'ROLE_AGENT' ? 'agent' : 'user');

function describeConnection({ state, link, after, why }: Notice): Described {
  const whose = link === 'agent' ? 'to the agent' : 'to the inspector';
  const place = after && `after ${/\s/.test(after) ? after : shortId(after)}`;
  const join = (...texts: (string | undefined)[]) => texts.filter(Boolean).join(', ');
  const shown: Record<Notice['state'], [string, string, string]> = {
    polling: ['Polling', 'the agent does not stream this task', 'notice'],
    lost: ['Connection lost', join(whose, why), 'lost'],
    reconnecting: ['Reconnecting', join(whose, place), 'notice'],
    resumed: ['Resumed', join(whose, place), 'resumed'],
  };
  return is('connection', ...shown[state]);
}

/** The content of parts in one line. */
export function summary(parts: readonly PartMembers[]): string {
  const words = parts.map((part) => {
    if (part.text !== undefined) return part.text;
    if (part.raw !== undefined)
      return `[${part.filename ?? part.mediaType ?? 'file'}, ${fileSize(Math.floor(part.raw.split('=', 1)[0]!.length * 0.75))}]`;
    return part.url ?? JSON.stringify(part.data);
  });
  return oneLine(words.join(' '));
}
