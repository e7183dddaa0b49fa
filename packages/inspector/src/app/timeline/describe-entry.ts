import type { AgentEvent } from '@batonjs/client';
import type { Fact } from '@batonjs/lifecycle';
import type { Call } from '../../api/model-calls.ts';
import type { PartMembers } from '../../api/part-members.ts';
import type { Entry, Notice } from '../../api/timeline.ts';
import { callName, callText } from '../models/totals.ts';
import type { IconName } from '../parts/icon.tsx';
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
  return notice ? describeConnection(notice) : { icon: 'message', label: 'Entry', text: '', tone: 'notice' };
}

const describeCall = (call: Call): Described => ({
  icon: 'step',
  label: `${call.kind === 'model' ? 'Model' : 'Tool'} ${callName(call)}`,
  text: callText(call),
  tone: call.kind === 'tool' && call.isFailed ? 'lost' : 'turn',
});

function describeFact(fact: Fact): Described {
  switch (fact.type) {
    case 'message-received': {
      const { answeredBy } = fact.caller ?? {};
      const from = typeof answeredBy === 'string' ? `Answer of ${answeredBy}` : 'Message';
      const label = fact.forked ? `Fork of ${shortId(fact.forked.taskId)}` : from;
      return said(label, fact.message.parts, 'ROLE_USER');
    }
    case 'task-created':
      return { icon: 'tasks', label: 'Task created', text: shortId(fact.taskId), tone: 'turn' };
    case 'answered':
      return said('Answer', fact.message.parts, 'ROLE_AGENT');
    case 'turn-started':
      return fact.attempt > 1
        ? { icon: 'turn', label: `Turn ${fact.turn} again`, text: `attempt ${fact.attempt}`, tone: 'again' }
        : { icon: 'turn', label: `Turn ${fact.turn}`, text: 'started', tone: 'turn' };
    case 'turn-ended':
      return { icon: 'turn', label: `Turn ${fact.turn}`, text: 'ended', tone: 'turn' };
    case 'message-taken':
      return { icon: 'message', label: 'Message taken', text: `by turn ${fact.turn}`, tone: 'turn' };
    case 'woken':
      return { icon: 'turn', label: 'Woken', text: 'a turn without a message', tone: 'turn' };
    case 'cancel-requested':
      return { icon: 'cancel', label: 'Cancel requested', text: '', tone: 'canceled' };
    case 'step-completed':
      return {
        icon: 'step',
        label: `Step ${fact.name}`,
        text: oneLine(JSON.stringify(fact.result) ?? ''),
        tone: 'turn',
      };
    case 'step-failed':
    case 'turn-failed':
    case 'turn-paused':
    case 'memory-changed':
    case 'turn-logged':
    case 'labels-set':
    case 'callback-opened':
    case 'callback-received':
      return describeInside(fact);
    case 'wake-set': {
      const text = fact.time ? `at ${dateTime(fact.time)}` : 'at no time any more';
      return { icon: 'deadline', label: 'Wake set', text, tone: 'turn' };
    }
    case 'child-updated': {
      const { agent, taskId, state } = fact.child;
      const text = [agent, taskId && shortId(taskId), state && stateName(state)].filter(Boolean).join(' · ');
      return { icon: 'graph', label: `Child ${fact.name}`, text, tone: 'turn' };
    }
    case 'status-changed':
      return statusOf(fact.status.state, fact.status.message?.parts);
    case 'artifact-updated':
      return artifactOf(fact.artifact, fact.append);
    default:
      // The inspector of an older release shows a newer agent.
      fact satisfies never;
      return { icon: 'message', label: String(Object(fact).type ?? 'fact'), text: '', tone: 'notice' };
  }
}

type Inside = Extract<
  Fact,
  {
    type:
      | 'step-failed'
      | 'turn-failed'
      | 'turn-paused'
      | 'memory-changed'
      | 'turn-logged'
      | 'labels-set'
      | 'callback-opened'
      | 'callback-received';
  }
>;

/** Facts about the agent's own work, which no client sees. */
function describeInside(fact: Inside): Described {
  switch (fact.type) {
    case 'step-failed':
      return {
        icon: 'step',
        label: `Step ${fact.name} failed`,
        text: failureText(fact.attempt, fact),
        tone: 'lost',
      };
    case 'turn-failed':
      return {
        icon: 'turn',
        label: `Turn ${fact.turn} failed`,
        text: failureText(fact.attempt, fact),
        tone: 'lost',
      };
    case 'turn-paused': {
      const text = `paused until ${dateTime(fact.until)}`;
      return { icon: 'deadline', label: `Turn ${fact.turn}`, text, tone: 'turn' };
    }
    case 'memory-changed': {
      const forgotten = fact.removed?.map((name) => `${name} forgotten`) ?? [];
      const set = Object.entries(fact.changes).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
      return {
        icon: 'step',
        label: 'Memory',
        text: oneLine([...set, ...forgotten].join(', ')),
        tone: 'turn',
      };
    }
    case 'turn-logged': {
      const [first, ...more] = fact.lines;
      const also = more.length > 0 ? `and ${plural(more.length, 'more line')}` : undefined;
      const full = fact.full && 'no more lines are kept';
      const text = oneLine([first?.text, also, full].filter(Boolean).join(' · '));
      const tone = fact.lines.some(({ level }) => level === 'error') ? 'lost' : 'turn';
      return { icon: 'message', label: 'Log', text, tone };
    }
    case 'labels-set':
      return { icon: 'step', label: 'Labels', text: oneLine(fact.labels.join(', ')), tone: 'turn' };
    case 'callback-opened': {
      const { answers, expiresAt } = fact;
      const chosen = answers?.assignedBy ? `chosen by ${answers.assignedBy}, ` : '';
      const text = `${chosen}until ${dateTime(expiresAt)}`;
      if (answers) return { icon: 'lock', label: `Answer link for ${answers.by}`, text, tone: 'turn' };
      return { icon: 'connection', label: `Callback ${fact.name}`, text, tone: 'turn' };
    }
    case 'callback-received': {
      const text = oneLine(JSON.stringify(fact.value) ?? '');
      return { icon: 'connection', label: `Callback ${fact.name} received`, text, tone: 'user' };
    }
  }
}

/** Which attempt failed, why, and when the next one is. */
const failureText = (
  attempt: number,
  { message, retryAt }: { readonly message: string; readonly retryAt?: string },
): string =>
  oneLine(
    [`attempt ${attempt}`, message, retryAt ? `again at ${dateTime(retryAt)}` : 'not tried again'].join(
      ' · ',
    ),
  );

function describeEvent({ task, message, statusUpdate, artifactUpdate }: AgentEvent): Described {
  if (task)
    return { icon: 'tasks', label: 'Task read anew', text: stateName(task.status.state), tone: 'turn' };
  if (message) return said('Answer', message.parts, 'ROLE_AGENT');
  if (statusUpdate) return statusOf(statusUpdate.status.state, statusUpdate.status.message?.parts);
  return artifactUpdate
    ? artifactOf(artifactUpdate.artifact, artifactUpdate.append ?? false)
    : { icon: 'message', label: 'Unknown event', text: '', tone: 'notice' };
}

const statusOf = (state: string, parts: readonly PartMembers[] = []): Described => ({
  icon: 'status',
  label: stateName(state),
  text: saidBeside(state, summary(parts)),
  tone: stateClass(state),
});

const artifactOf = (
  { name, artifactId, parts }: { name?: string; artifactId: string; parts: readonly PartMembers[] },
  isChunk: boolean,
): Described => ({
  icon: 'artifact',
  label: isChunk ? 'Chunk' : 'Artifact',
  text: [name || (isChunk ? '' : artifactId), summary(parts)].filter(Boolean).join(': '),
  tone: isChunk ? 'chunk' : 'artifact',
});

const said = (label: string, parts: readonly PartMembers[], role: string): Described => ({
  icon: 'message',
  label,
  text: summary(parts),
  tone: role === 'ROLE_AGENT' ? 'agent' : 'user',
});

function describeConnection({ state, link, after, why }: Notice): Described {
  const whose = link === 'agent' ? 'to the agent' : 'to the inspector';
  const place = after && `after ${/\s/.test(after) ? after : shortId(after)}`;
  const join = (...texts: (string | undefined)[]) => texts.filter(Boolean).join(', ');
  const shown = {
    polling: { label: 'Polling', text: 'the agent does not stream this task', tone: 'notice' },
    lost: { label: 'Connection lost', text: join(whose, why), tone: 'lost' },
    reconnecting: { label: 'Reconnecting', text: join(whose, place), tone: 'notice' },
    resumed: { label: 'Resumed', text: join(whose, place), tone: 'resumed' },
  };
  return { icon: 'connection', ...shown[state] };
}

/** The content of parts in one line. */
export function summary(parts: readonly PartMembers[]): string {
  const words = parts.map((part) => {
    if (part.text !== undefined) return part.text;
    if (part.raw !== undefined)
      return `[${part.filename ?? part.mediaType ?? 'file'}, ${fileSize(Math.floor(part.raw.length * 0.75))}]`;
    return part.url ?? JSON.stringify(part.data);
  });
  return oneLine(words.join(' '));
}
