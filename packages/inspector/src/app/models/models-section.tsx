import { type State, usedTogether } from '@batonjs/lifecycle';
import { useMemo } from 'preact/hooks';
import type { ModelCall } from '../../api/model-calls.ts';
import { useSession } from '../data/session.ts';
import { ScrolledCode, Section } from '../parts/bits.tsx';
import { Flow } from '../parts/flow.tsx';
import { counted, duration, plural } from '../parts/words.ts';
import { type Called, type CallTotals, callName, money, remarksOf, tokenWords, totalsOf } from './totals.ts';

interface ModelsSectionProps {
  readonly called: readonly Called[];
  /** How many attempts of turns failed or were cut off. */
  readonly lost: number;
  readonly children: NonNullable<State['children']>;
  /** Goes to the entry of a call. */
  readonly onSeq: (seq: number) => void;
}

/** The calls of models and tools of a task, and what they cost: for those who run it, as no client sees it. */
export function ModelsSection({ called, lost, children, onSeq }: ModelsSectionProps) {
  const { currency } = useSession();
  const totals = useMemo(() => totalsOf(called), [called]);
  const others = othersNote(Object.values(children).flatMap(({ usage }) => usage ?? []));
  if (others.length === 0 && !called.some(({ call }) => call.kind === 'model')) return null;
  return (
    <Section title="Models">
      <Totals totals={totals} currency={currency} />
      <Flow
        items={called}
        keyOf={({ seq }) => String(seq)}
        label="Calls of models and tools"
        row={(each) => <CallRow called={each} currency={currency} onSeq={onSeq} />}
      />
      {[...others, ...notesOf(totals, lost, currency)].map((note) => (
        <p key={note} class="muted calls-note">
          {note}
        </p>
      ))}
    </Section>
  );
}

function Totals({ totals, currency }: Pick<CallRowProps, 'currency'> & { readonly totals: CallTotals }) {
  const { models, tools, input, output, cachedInput, reasoning, cost } = totals;
  const figures: readonly (readonly [string, string, string | false])[] = [
    ['Model calls', counted(models), tools > 0 && plural(tools, 'tool call')],
    ['Tokens in', counted(input), cachedInput > 0 && `${counted(cachedInput)} cached`],
    ['Tokens out', counted(output), reasoning > 0 && `${counted(reasoning)} reasoning`],
  ];
  const paid = money(cost, currency);
  const all = paid ? [...figures, ['Cost', paid, false] as const] : figures;
  return (
    <dl class="call-totals">
      {all.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {more && <dd class="muted">{more}</dd>}
        </div>
      ))}
    </dl>
  );
}

interface CallRowProps extends Pick<ModelsSectionProps, 'onSeq'> {
  readonly called: Called;
  readonly currency: string | undefined;
}

function CallRow({ called: { seq, call, isReused }, currency, onSeq }: CallRowProps) {
  const isModel = call.kind === 'model';
  const isFailed = !isModel && call.isFailed;
  const details = isModel
    ? [call.usage ? tokenWords(call.usage) : 'tokens unknown', ...remarksOf(call)]
    : [isFailed && 'failed'];
  const words = [...details, isReused && 'of the task it was forked from'].filter(Boolean).join(' · ');
  return (
    <div class={`call call-${call.kind} ${isFailed ? 'is-failed' : ''}`}>
      <span class="call-name">
        <button type="button" class="link-button" onClick={() => onSeq(seq)}>
          {callName(call)}
        </button>
        <span class="muted">{isModel ? call.provider : 'tool'}</span>
      </span>
      <span class="call-number">{duration(call.ms)}</span>
      {currency && <span class="call-number call-cost">{isModel && money(call.cost, currency)}</span>}
      {words && <span class="call-details">{words}</span>}
      {isModel && call.messages && <Messages call={call} />}
    </div>
  );
}

/** What a model was asked, and what it said. */
function Messages({ call: { messages } }: { readonly call: ModelCall }) {
  const { prompt, answer, isCut } = messages ?? {};
  const lines = [...(prompt ?? []), ...(answer ? [{ role: 'answer', text: answer }] : [])];
  return (
    <details class="call-messages">
      <summary>{prompt ? 'Prompt and answer' : 'Answer'}</summary>
      {lines.map(({ role, text }, index) => (
        <div key={index} class="call-message">
          <h3>{role}</h3>
          <ScrolledCode text={text} />
        </div>
      ))}
      {isCut && <p class="muted">Only part of it is kept.</p>}
      {!prompt && <p class="muted">The agent keeps no prompts.</p>}
    </details>
  );
}

function othersNote(reported: readonly Parameters<typeof usedTogether>[0][]): readonly string[] {
  const { tokens, costs } = reported.reduce(usedTogether, { tokens: 0, costs: {} });
  const words = Object.entries(costs).map(([code, cost]) => money(cost / 1_000_000, code));
  const sum = [plural(tokens, 'token'), ...words].join(', ');
  return reported.length > 0 ? [`Besides, the agents of its children report ${sum}.`] : [];
}

/** What the figures leave out. */
function notesOf(totals: CallTotals, lost: number, currency: string | undefined): readonly string[] {
  const { withoutCost, withoutTokens, failedTries, failedTools, reused } = totals;
  return [
    currency &&
      withoutCost > 0 &&
      `${plural(withoutCost, 'call')} of models without a price: not in the cost.`,
    withoutTokens > 0 && `${plural(withoutTokens, 'call')} without tokens: the provider does not say.`,
    failedTries > 0 && `${plural(failedTries, 'try', 'tries')} failed first.`,
    failedTools > 0 && `${plural(failedTools, 'tool call')} failed.`,
    reused > 0 && `${plural(reused, 'call')} of the task it was forked from: not counted.`,
    lost > 0 &&
      `${plural(lost, 'attempt')} failed or ended early: what a model call without a whole answer cost then is not known.`,
  ].filter((note) => typeof note === 'string');
}
