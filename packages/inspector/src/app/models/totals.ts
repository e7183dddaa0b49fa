import type { Call, CallCost, ModelCall } from '../../api/model-calls.ts';
import { counted, duration, plural } from '../parts/words.ts';

/** A call of a model or a tool in a task. */
export interface Called {
  /** The position of its entry. */
  readonly seq: number;
  readonly call: Call;
  /** The task from which this one was forked made it. */
  readonly isReused: boolean;
}

export type CallTotals = Readonly<ReturnType<typeof totalsOf>>;

/** What the calls of a task cost in all; calls that were reused count for nothing. */
export function totalsOf(called: readonly Called[]) {
  const own = called.flatMap(({ call, isReused }) => (isReused ? [] : [call]));
  const models = own.filter((call) => call.kind === 'model');
  const tools = own.filter((call) => call.kind === 'tool');
  const tries = models.flatMap(({ failed = [] }) => failed);
  const paid: readonly CallCost[] = [...models, ...tries];
  const sum = (name: 'input' | 'cachedInput' | 'output' | 'reasoning') =>
    paid.reduce((all, { usage }) => all + (usage?.[name] ?? 0), 0);
  const costs = paid.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  return {
    models: models.length,
    tools: tools.length,
    /** Tries of model calls that failed, before one did not. */
    failedTries: tries.length,
    failedTools: tools.filter(({ isFailed }) => isFailed).length,
    reused: called.length - own.length,
    input: sum('input'),
    cachedInput: sum('cachedInput'),
    output: sum('output'),
    reasoning: sum('reasoning'),
    /** Absent if no call has a cost. */
    ...(costs.length > 0 && { cost: costs.reduce((all, each) => all + each, 0) }),
    /** How many calls and failed tries with tokens have no cost. */
    withoutCost: paid.filter(({ usage, cost }) => usage && cost === undefined).length,
    /** How many calls have no tokens. */
    withoutTokens: models.filter(({ usage }) => !usage).length,
  };
}

/** The name of a call: of the model that was asked, or of the tool. */
export const callName = (call: Call): string => (call.kind === 'model' ? call.modelId : call.name);

/** Tokens in words, as far as they are known. */
export function tokenWords({ input, output, cachedInput, reasoning }: NonNullable<CallCost['usage']>) {
  const read =
    input !== undefined && `${counted(input)} in${cachedInput ? ` (${counted(cachedInput)} cached)` : ''}`;
  const written =
    output !== undefined && `${counted(output)} out${reasoning ? ` (${counted(reasoning)} reasoning)` : ''}`;
  return [read, written].filter(Boolean).join(' · ');
}

/** Money in words: small amounts with two digits that say something. Without a currency, there is no cost. */
export function money(cost: number | undefined, currency: string | undefined): string | undefined {
  if (cost === undefined || !currency) return undefined;
  const digits = cost > 0 && cost < 0.1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  return cost.toLocaleString('en', { style: 'currency', currency, ...digits });
}

export function callText(call: Call): string {
  const took = duration(call.ms);
  const words =
    call.kind === 'model'
      ? [call.usage && tokenWords(call.usage), took, ...remarksOf(call)]
      : [took, call.isFailed && 'failed'];
  return words.filter(Boolean).join(' · ');
}

/** What happened in a call besides that it was made. */
export function remarksOf({
  failed = [],
  finishReason,
  responseModelId,
  firstMs,
}: ModelCall): readonly string[] {
  const statuses = [...new Set(failed.flatMap(({ status }) => status ?? []))].join(', ');
  return [
    failed.length > 0 &&
      `after ${plural(failed.length, 'failed try', 'failed tries')}${statuses && ` (${statuses})`}`,
    finishReason && finishReason !== 'stop' && finishReason,
    firstMs !== undefined && `first words after ${duration(firstMs)}`,
    responseModelId && `answered by ${responseModelId}`,
  ].filter((remark) => typeof remark === 'string');
}
