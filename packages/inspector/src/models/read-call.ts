import type { Fact, FactOf } from '@batonjs/lifecycle';
import { isObject } from '@batonjs/protocol/json';
import type { PriceTable } from '@batonjs/server/internals';
import type {
  Call,
  CallMessage,
  CallMessages,
  FailedCall,
  ModelCall,
  TokenUsage,
} from '../api/model-calls.ts';
import type { Entry, TimelineUpdate } from '../api/timeline.ts';
import { HIDDEN } from '../wire/secrets.ts';

/** The most characters of an answer that are shown. */
const mostCharacters = 16_384;

type Json = Readonly<Record<string, unknown>>;

/** A step as it was recorded: agents may record anything. */
const objectOf = (value: unknown): Json | undefined => (isObject(value) ? value : undefined);

/** What a step called; undefined for a step of another kind. */
function readCall({ result }: FactOf<'step-completed'>, prices: PriceTable | undefined): Call | undefined {
  const { modelCall, toolCall, error } = objectOf(result) ?? {};
  const model = objectOf(modelCall);
  if (model) return readModel(model, prices);
  const { name, ms } = objectOf(toolCall) ?? {};
  if (typeof name !== 'string' || !isCount(ms)) return undefined;
  return { kind: 'tool', name, ms, ...(error !== undefined && { isFailed: true }) };
}

function readModel(call: Json, prices: PriceTable | undefined): ModelCall | undefined {
  const { provider, modelId, responseModelId, ms, firstMs, finishReason, failed } = call;
  if (typeof provider !== 'string' || typeof modelId !== 'string' || !isCount(ms)) return undefined;
  const names = { provider, modelId, ...(typeof responseModelId === 'string' && { responseModelId }) };
  const costs = (given: unknown) => {
    const usage = readUsage(given);
    const cost = prices?.costOf(names, usage);
    return { ...(usage && { usage }), ...(cost !== undefined && { cost }) };
  };
  const tries = (Array.isArray(failed) ? failed : []).flatMap((each): FailedCall[] => {
    const { ms, status, usage } = objectOf(each) ?? {};
    return isCount(ms) ? [{ ms, ...(isCount(status) && { status }), ...costs(usage) }] : [];
  });
  return {
    kind: 'model',
    ...names,
    ms,
    ...(isCount(firstMs) && { firstMs }),
    ...(typeof finishReason === 'string' && { finishReason }),
    ...costs(call.usage),
    ...(tries.length > 0 && { failed: tries }),
  };
}

const counts = ['input', 'output', 'cachedInput', 'cacheWrite', 'reasoning'] as const;

function readUsage(given: unknown): TokenUsage | undefined {
  const usage = objectOf(given);
  const known = counts.flatMap((name) => (isCount(usage?.[name]) ? [[name, usage[name]] as const] : []));
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** What a model was asked, if the agent kept that, and what it said. */
function readMessages({ result }: FactOf<'step-completed'>): CallMessages {
  const { modelCall, parts, result: whole } = objectOf(result) ?? {};
  const { messages, isCut } = objectOf(objectOf(modelCall)?.prompt) ?? {};
  const said = textIn(listOf(parts ?? objectOf(whole)?.content));
  const answer = said.slice(0, mostCharacters);
  return {
    ...(Array.isArray(messages) && { prompt: messages.flatMap(messageOf) }),
    ...(answer && { answer }),
    ...((isCut === true || answer.length < said.length) && { isCut: true }),
  };
}

function messageOf(value: unknown): CallMessage[] {
  const { role, text } = objectOf(value) ?? {};
  return typeof role === 'string' && typeof text === 'string' ? [{ role, text }] : [];
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The words of an answer; each text, reasoning and call of a tool on a line of its own. */
function textIn(parts: readonly unknown[]): string {
  const lines: string[] = [];
  let latest: unknown;
  for (const part of parts) {
    const { type, delta, text = delta, toolName, input, id = part } = objectOf(part) ?? {};
    if (type === 'tool-call') {
      lines.push(`[${toolName}] ${input}`);
      latest = undefined;
    }
    if (typeof text !== 'string' || !/^(text|reasoning)/.test(String(type))) continue;
    if (id === latest) lines.push(`${lines.pop()}${text}`);
    else lines.push(text);
    latest = id;
  }
  return lines.join('\n').trim();
}

/** How calls of models are shown to a viewer. */
export interface CallViewOptions {
  readonly prices?: PriceTable | undefined;
  /** Whether the viewer may read what models are asked and what they say. */
  readonly showsMessages: boolean;
}

/** What the memory of a task has of the conversation with its model, while it waits for an answer. */
const keptConversation = 'https://batonjs.dev/ai-sdk/v1 ';

/** The updates of a timeline with what steps called. Without leave, they have no words of models. */
export async function* withCalls(
  updates: AsyncIterable<TimelineUpdate>,
  options: CallViewOptions,
): AsyncGenerator<TimelineUpdate, void, void> {
  for await (const update of updates)
    yield update.type === 'entries'
      ? { ...update, entries: update.entries.map((entry) => viewEntry(entry, options)) }
      : update;
}

function viewEntry(entry: Entry, options: CallViewOptions): Entry {
  const { fact } = entry;
  if (fact?.type === 'step-completed') return viewStep(entry, fact, options);
  return fact?.type === 'memory-changed' && !options.showsMessages
    ? { ...entry, fact: withoutConversation(fact) }
    : entry;
}

function viewStep(
  entry: Entry,
  fact: FactOf<'step-completed'>,
  { prices, showsMessages }: CallViewOptions,
): Entry {
  const call = readCall(fact, prices);
  if (!isOfModel(fact)) return call ? { ...entry, call } : entry;
  if (!showsMessages) return { ...entry, fact: { ...fact, result: HIDDEN }, ...(call && { call }) };
  return call?.kind === 'model' ? { ...entry, call: { ...call, messages: readMessages(fact) } } : entry;
}

/** A call that cannot be read has words of a model, too. */
const isOfModel = ({ result }: FactOf<'step-completed'>): boolean =>
  Object.hasOwn(Object(result), 'modelCall');

function withoutConversation(fact: FactOf<'memory-changed'>): Fact {
  const changes = Object.entries(fact.changes).map(([name, value]) => [
    name,
    name.startsWith(keptConversation) ? HIDDEN : value,
  ]);
  return { ...fact, changes: Object.fromEntries(changes) };
}
