import type { AgentCard, Message } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` if a part is of a type the agent does not read. Spec: §3.1.1. */
export function checkInputModes(card: AgentCard, { parts }: Partial<Message> & Pick<Message, 'parts'>): void {
  const modes = inputModesOf(card);
  if (modes.length === 0) return;
  for (const [index, part] of parts.entries()) {
    const type =
      part.mediaType ?? ('text' in part ? 'text/plain' : 'data' in part ? 'application/json' : undefined);
    if (type === undefined || modes.includes(type) || modes.some((mode) => covers(mode, type))) continue;
    throw new A2AError(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `message.parts[${index}] is ${type}; this agent reads ${list(modes)}`,
    );
  }
}

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` if the client accepts nothing that the agent writes. Spec: §3.2.2. */
export function checkOutputModes(card: AgentCard, accepted: readonly string[] = []): void {
  if (accepted.length === 0) return;
  const modes = [...card.defaultOutputModes, ...card.skills.flatMap((skill) => skill.outputModes ?? [])];
  if (modes.length === 0) return;
  if (accepted.some((type) => modes.some((mode) => covers(mode, type) || covers(type, mode)))) return;
  throw new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `This agent writes ${list(modes)}, none of which is accepted`,
  );
}

const known = new WeakMap<AgentCard, readonly string[]>();

/** All input modes of an agent; collected once. */
function inputModesOf(card: AgentCard): readonly string[] {
  const modes = known.get(card) ?? [
    ...card.defaultInputModes,
    ...card.skills.flatMap((skill) => skill.inputModes ?? []),
  ];
  known.set(card, modes);
  return modes;
}

/** Whether a mode such as `image/*` includes a type such as `image/png; q=1`. */
function covers(mode: string, type: string): boolean {
  const [wantedKind, wantedName] = essence(mode);
  const [kind, name] = essence(type);
  return wantedKind === '*' || (wantedKind === kind && (wantedName === '*' || wantedName === name));
}

function essence(mode: string): [kind: string, name: string] {
  const [kind = '', name = '*'] = (mode.split(';')[0] ?? '').trim().toLowerCase().split('/');
  // "text" was a common way to write text/plain before media types were required.
  return [kind, name];
}

const list = (modes: readonly string[]): string => [...new Set(modes)].join(', ');
