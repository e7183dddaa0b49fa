import type { Part } from '@batonjs/protocol';
import type { Fact } from './facts.ts';

/** What a fact weighs besides its content, and a number, boolean or key inside it. */
const overhead = 200;
const scalar = 8;

/** Roughly how many bytes a fact takes: the length of its content plus a constant. Pure and cheap. */
export function weigh(fact: Fact): number {
  switch (fact.type) {
    case 'artifact-updated':
      return overhead + weighParts(fact.artifact.parts);
    case 'status-changed':
      return overhead + weighParts(fact.status.message?.parts ?? []);
    case 'message-received':
    case 'answered':
      return overhead + weighParts(fact.message.parts);
    case 'step-completed':
      return overhead + weighJson(fact.result);
    default:
      return overhead;
  }
}

function weighParts(parts: readonly Part[]): number {
  let weight = 0;
  for (const part of parts) {
    weight += scalar;
    if ('text' in part) weight += part.text.length;
    else if ('raw' in part) weight += part.raw.length;
    else if ('data' in part) weight += weighJson(part.data);
    if (part.metadata) weight += weighJson(part.metadata);
  }
  return weight;
}

function weighJson(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return scalar;
  let weight = scalar;
  for (const [key, member] of Object.entries(value)) weight += key.length + weighJson(member);
  return weight;
}
