import { type Command, decide, evolve, type Fact, type Head, headOf, type State } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import fc from 'fast-check';
import {
  answer,
  artifact,
  at,
  cancel,
  child,
  create,
  endTurn,
  failStep,
  failTurn,
  inside,
  keptStep,
  labelled,
  logged,
  openCallback,
  pauseTurn,
  postpone,
  receive,
  receiveCallback,
  remember,
  reply,
  said,
  startTurn,
  step,
  take,
  to,
  wake,
  wakeAt,
} from './given.ts';

/** A command, the clock it is decided by, and how many facts the deciding process is behind the log. */
export interface Attempt {
  readonly command: Command;
  readonly clock: string;
  readonly behind: number;
}

/** A log after one attempt more. */
export interface Moment {
  readonly attempt: Attempt;
  /** What the attempt added; nothing if it was refused. */
  readonly added: readonly Fact[];
  readonly refused?: A2AError;
  readonly facts: readonly Fact[];
  readonly state: State | undefined;
  readonly head: Head | undefined;
}

const messageId = fc.constantFrom('m1', 'm2', 'm3', 'm4', 'w1', 'w2');
const agentId = fc.constantFrom('w1', 'w2', 'w3', 'm2');
const artifactId = fc.constantFrom('a1', 'a2', 'a3');
const stepName = fc.constantFrom('s1', 's2', 'constructor', '__proto__');
/** Few, and one that every object has: a value comes for a callback that is open. */
const callbackId = fc.constantFrom('s1', '__proto__');
const states = ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED', 'UNSPECIFIED'];
const ends = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'];
const metadata = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }) as fc.Arbitrary<
  Record<string, unknown>
>;
const time = fc.nat(120).map(at);
const maybeTime = fc.option(time, { nil: undefined });
const usage = fc.oneof(
  fc.constant({ model: 'm', inputTokens: 2 }),
  fc.record({
    model: fc.constant('m'),
    cost: fc.nat(9).map((n) => n / 10),
    currency: fc.constantFrom('EUR', 'USD'),
  }),
);
const just = (command: Command) => fc.constant(command);

const commands: [number, fc.Arbitrary<Command>][] = [
  [8, messageId.map((id) => receive(id))],
  [
    2,
    fc.tuple(messageId, metadata).map(([id, about]): Command => {
      return {
        type: 'receive',
        message: said(id, { metadata: about, contextId: 'elsewhere' }),
        caller: about,
      };
    }),
  ],
  [4, just(create)],
  [6, just(startTurn)],
  [3, messageId.map(take)],
  [
    9,
    fc.tuple(fc.constantFrom(...states), fc.option(agentId, { nil: undefined })).map(([s, id]) => to(s, id)),
  ],
  [1, fc.tuple(fc.constantFrom(...ends), fc.option(agentId, { nil: undefined })).map(([s, id]) => to(s, id))],
  [
    2,
    metadata.map((about): Command => {
      const message = reply('w4', { metadata: about, parts: [{ data: about as never }] });
      return {
        type: 'update',
        update: { status: { state: 'TASK_STATE_WORKING', message }, metadata: about },
      };
    }),
  ],
  [
    8,
    fc
      .tuple(artifactId, fc.boolean(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }))
      .map(([id, append, lastChunk, parts]) => artifact(id, parts, { append, lastChunk })),
  ],
  [1, agentId.map((id) => answer(id))],
  [
    4,
    fc
      .tuple(stepName, fc.option(fc.jsonValue(), { nil: undefined }), fc.option(usage, { nil: undefined }))
      .map(([name, result, used]) => ({
        ...step(name, result === undefined ? undefined : [inside, result]),
        ...(used && { usage: used }),
      })),
  ],
  [
    3,
    fc
      .tuple(stepName, fc.option(fc.jsonValue(), { nil: undefined }))
      .map(([name, record]) => child(name, { record })),
  ],
  [
    2,
    fc
      .tuple(stepName, fc.option(fc.jsonValue(), { nil: undefined }))
      .map(([name, result]) => keptStep(name, [inside, result])),
  ],
  [
    4,
    fc
      .dictionary(stepName, fc.option(fc.tuple(fc.constant(inside), fc.jsonValue()), { nil: undefined }), {
        maxKeys: 3,
      })
      .map((memory) => remember(memory)),
  ],
  [2, fc.jsonValue().map((value) => logged(inside, { value }))],
  [3, fc.subarray(['eu', 'us', 'invoice:42']).map(labelled)],
  [2, fc.tuple(stepName, maybeTime).map(([name, retryAt]) => failStep(name, retryAt))],
  [2, maybeTime.map(failTurn)],
  [1, time.map(pauseTurn)],
  [
    3,
    fc
      .tuple(callbackId, fc.oneof(time, fc.constant(at(200))))
      .map(([id, expiresAt]) => openCallback(id, expiresAt)),
  ],
  [3, fc.tuple(callbackId, fc.jsonValue()).map(([id, value]) => receiveCallback(id, [inside, value]))],
  [3, just(endTurn)],
  [2, just(wake)],
  [2, maybeTime.map(wakeAt)],
  [2, fc.tuple(messageId, time).map(([id, notBefore]) => postpone(id, notBefore))],
  [2, fc.option(metadata, { nil: undefined }).map((about) => ({ ...cancel, metadata: about }))],
];

const attempt = (behind: fc.Arbitrary<number>): fc.Arbitrary<Attempt> =>
  fc.record({
    command: fc.oneof(...commands.map(([weight, arbitrary]) => ({ weight, arbitrary }))),
    clock: time,
    behind,
  });

const first: Attempt = { command: receive('m1'), clock: at(60), behind: 0 };

/** The facts that stores append wherever a log ends, whatever was appended since they were decided. */
const isOpen = ({ command: { type } }: Attempt): boolean =>
  type === 'receive' || type === 'wake' || type === 'request-cancel' || type === 'receive-callback';

/** What a store refuses to append: anything to a closed log, and what it has under the same `once`. */
const lets = ({ state, facts }: Moment, { command }: Attempt): boolean =>
  !state?.closed &&
  !facts.some(
    (fact) =>
      (fact.type === 'message-received' &&
        command.type === 'receive' &&
        fact.message.messageId === command.message.messageId) ||
      (fact.type === 'cancel-requested' && command.type === 'request-cancel') ||
      (fact.type === 'callback-received' && command.type === 'receive-callback' && fact.id === command.id),
  );

/**
 * Attempts on one log by processes whose clocks disagree. Some decide on an older state, as a store allows for
 * messages, cancellations and wake-ups; every other attempt is decided on the log as it is.
 */
export const randomLog: fc.Arbitrary<Moment[]> = history(
  fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(6)),
);

/** The same without anybody being late. */
export const randomLogInTurn: fc.Arbitrary<Moment[]> = history(fc.constant(0));

function history(behind: fc.Arbitrary<number>): fc.Arbitrary<Moment[]> {
  return fc
    .array(attempt(behind), { maxLength: 50, size: 'max' })
    .map((attempts) => [first, ...attempts].reduce(next, []));
}

function next(moments: Moment[], tried: Attempt): Moment[] {
  const last = moments.at(-1);
  const facts = last?.facts ?? [];
  const seen = isOpen(tried)
    ? Math.max(Math.min(1, facts.length), facts.length - tried.behind)
    : facts.length;
  const known =
    seen === facts.length ? last?.state : facts.slice(0, seen).reduce<State | undefined>(evolve, undefined);
  try {
    const decided = decide(known, tried.command, tried.clock);
    const added = seen < facts.length && !lets(last!, tried) ? [] : decided;
    const state = added.reduce<State | undefined>(evolve, last?.state);
    const head = added.reduce<Head | undefined>(headOf, last?.head);
    return [...moments, { attempt: tried, added, facts: [...facts, ...added], state, head }];
  } catch (refused) {
    if (!A2AError.is(refused)) throw refused;
    return [...moments, { attempt: tried, added: [], refused, facts, state: last?.state, head: last?.head }];
  }
}
