import {
  decide,
  evolve,
  type Fact,
  fromSnapshot,
  generationOf,
  historyOf,
  isTerminal,
  replay,
  type State,
  Timeline,
  toSnapshot,
  toStreamResponse,
  viewTask,
} from '@batonjs/lifecycle';
import { agrees, weigh } from '@batonjs/lifecycle/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { inside, reasonOf, stored } from './given.ts';
import { type Moment, randomLog, randomLogInTurn } from './random-log.ts';

const plain = (state: State | undefined) => state && stored(toSnapshot(state));
const always = (check: (moments: Moment[]) => void, logs = randomLog, numRuns = repetitions(100, 300)) =>
  fc.assert(
    fc.property(logs, (moments) => {
      check(moments);
    }),
    { numRuns },
  );
const changes = (moments: Moment[]) => moments.filter(({ added }) => added.length > 0);

describe('every log', () => {
  it('gives the same state, whether folded as it grew or replayed from the store [§8.1] [R-HIST-03] [R-11-33]', () => {
    always((moments) => {
      const { facts, state } = moments.at(-1)!;
      expect(plain(replay(stored(facts)))).toEqual(plain(state));
    });
  });

  it('gives the same state from every snapshot and the facts after it [§8.1]', () => {
    always(
      (moments) => {
        const { facts, state } = moments.at(-1)!;
        for (let version = 1; version <= facts.length; version++) {
          const snapshot = stored(toSnapshot(replay(facts.slice(0, version))!));
          expect(snapshot.version).toBe(version);
          const restored = fromSnapshot(snapshot);
          const rest = stored(facts.slice(version));
          expect(plain(rest.reduce<State>(evolve, restored))).toEqual(plain(state));
          // Restoring gives a state of its own: folding it further leaves the snapshot alone.
          expect(plain(restored)).toEqual(snapshot);
        }
      },
      randomLog,
      100,
    );
  });

  it('leaves every state that it once had as it was', () => {
    always(
      (moments) => {
        const then = moments.map(({ facts }) => plain(replay(facts)));
        expect(moments.map(({ state }) => plain(state))).toEqual(then);
      },
      randomLog,
      100,
    );
  });

  it('has a head that agrees with its state after every commit', () => {
    always((moments) => {
      for (const { head, state } of moments) {
        expect(agrees(head!, state!)).toBe(true);
        expect(head!.costs).toEqual(state!.costs);
      }
    });
  });

  it('goes on from a store exactly as it goes on in memory', () => {
    always(
      (moments) => {
        for (const { attempt, added, facts, refused } of moments.slice(1)) {
          const before = replay(facts.slice(0, facts.length - added.length))!;
          const decideAgain = () =>
            decide(fromSnapshot(stored(toSnapshot(before))), attempt.command, attempt.clock);
          if (refused) expect(reasonOf(decideAgain)).toBe(refused.reason);
          else expect(decideAgain()).toEqual(added);
        }
      },
      randomLogInTurn,
      100,
    );
  });

  it('ends with the fact that closes it, and no command changes it afterwards [R-STATE-10]', () => {
    always((moments) => {
      const { facts } = moments.at(-1)!;
      const states = facts.map((_, index) => replay(facts.slice(0, index + 1))!);
      const closing = states.findIndex(({ closed }) => closed);
      expect(closing === -1 || closing === facts.length - 1).toBe(true);
      for (const { openTurn, closed } of states) expect(closed && openTurn !== undefined).toBe(false);
    });
  });

  it('never leaves a terminal state, and never returns to SUBMITTED [R-STATE-10, R-STATE-12]', () => {
    always((moments) => {
      const states = moments.map(({ state }) => state?.task?.status.state);
      states.forEach((state, index) => {
        const before = states[index - 1];
        if (before && isTerminal(before)) expect(state).toBe(before);
        if (before && before !== 'TASK_STATE_SUBMITTED') expect(state).not.toBe('TASK_STATE_SUBMITTED');
      });
    });
  });

  it('has times that never go back, whatever the clocks say', () => {
    const rising = (times: readonly (string | undefined)[]) =>
      expect(times).toEqual(times.toSorted((one, other) => (one! < other! ? -1 : one! > other! ? 1 : 0)));
    always((moments) => {
      rising(moments.map(({ state }) => state?.at));
      rising(moments.flatMap(({ state }) => state?.task?.status.timestamp ?? []));
      rising(moments.map(({ head }) => head?.statusAt));
    });
    // Only a fact of an open append may carry an earlier time.
    always((moments) => rising(moments.at(-1)!.facts.map(({ at }) => at)), randomLogInTurn);
  });

  it('counts in its generation the facts that a stream shows, and that the task was created', () => {
    always((moments) => {
      for (const { facts, state, head } of moments) {
        const shown = facts.filter(
          (fact) =>
            fact.type === 'task-created' || toStreamResponse({ id: 'task', contextId: 'context' }, fact),
        );
        expect(state!.generation).toBe(shown.length);
        expect(head!.generation).toBe(shown.length);
      }
    });
  });

  it('changes what clients see only together with its generation, except for what clients said', () => {
    always((moments) => {
      changes(moments).reduce((before, after) => {
        if (before.state?.task && before.state.generation === after.state!.generation) {
          expect(viewTask(after.state!, { historyLength: 0 })).toEqual(
            viewTask(before.state, { historyLength: 0 }),
          );
        }
        return after;
      });
    });
  });

  it('has each message once in its history, in the order of the log, in both readings [R-HIST-02, R-HIST-04]', () => {
    always((moments) => {
      const { facts, state } = moments.at(-1)!;
      const said = facts.flatMap((fact) =>
        fact.type === 'message-received'
          ? [fact.message.messageId]
          : fact.type === 'status-changed'
            ? (fact.status.message?.messageId ?? [])
            : [],
      );
      const ids = historyOf(state!, { currentStatusInHistory: true }).map(({ messageId }) => messageId);
      expect(ids).toEqual([...new Set(said)]);
      const current = state!.task?.status.message?.messageId;
      expect(historyOf(state!).map(({ messageId }) => messageId)).toEqual(ids.filter((id) => id !== current));
    });
  });

  it('gives every received message to at most one turn, and loses none', () => {
    always((moments) => {
      const { facts, state } = moments.at(-1)!;
      const arrived = [
        ...new Set(facts.flatMap((fact) => (fact.type === 'message-received' ? fact.message.messageId : []))),
      ];
      const taken = facts.flatMap((fact) =>
        fact.type === 'turn-started' && fact.attempt === 1
          ? fact.messageIds
          : fact.type === 'message-taken'
            ? [fact.messageId]
            : [],
      );
      const waiting = state!.pending.map(({ message }) => message.messageId);
      expect([...taken, ...waiting].sort()).toEqual(arrived.sort());
    });
  });

  it('has a timeline that counts as its state does, and has each message and status at its own place [R-P11-50] [R-P11-52]', () => {
    always((moments) => {
      const timeline = new Timeline(Number.POSITIVE_INFINITY);
      for (const { added, state } of moments) {
        for (const fact of added) timeline.add(fact);
        if (state?.task) expect(timeline.generation).toBe(generationOf(state));
      }
      const { state } = moments.at(-1)!;
      if (!state?.task) return;
      const places = timeline.entries.map(({ generation }) => Number(generation));
      expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
      const told = timeline.entries.flatMap((entry) =>
        'message' in entry ? entry.message : (entry.status.message ?? []),
      );
      const ids = new Set(told.map(({ messageId }) => messageId));
      expect([...ids]).toEqual(
        historyOf(state, { currentStatusInHistory: true }).map(({ messageId }) => messageId),
      );
    });
  });

  it('shows nothing of what the agent keeps, and of why it failed, in any view or event', () => {
    let hidden = 0;
    always((moments) => {
      for (const { state, added, facts } of moments) {
        const task = { id: 'task', contextId: 'context' };
        const views = state!.task
          ? [viewTask(state!), viewTask(state!, { currentStatusInHistory: true, generation: true })]
          : [];
        const seen = [
          views,
          historyOf(state!),
          state!.answer,
          added.map((fact) => toStreamResponse(task, fact)),
        ];
        expect(JSON.stringify(seen)).not.toContain(inside);
        if (JSON.stringify(facts).includes(inside)) hidden++;
      }
    });
    expect(hidden).toBeGreaterThan(100);
  });

  it('keeps what was remembered last, each result of a kept step, and knows its size', () => {
    always((moments) => {
      const { facts, state } = moments.at(-1)!;
      const memory = new Map<string, unknown>();
      const steps = new Map<string, unknown>();
      for (const fact of facts) {
        if (fact.type === 'step-completed' && fact.keep) steps.set(fact.name, fact.result ?? null);
        if (fact.type !== 'memory-changed') continue;
        for (const [name, value] of Object.entries(fact.changes)) memory.set(name, value);
        for (const name of fact.removed ?? []) memory.delete(name);
      }
      const { agent } = state!;
      const known = (record: object = {}) => new Map(Object.entries(record));
      expect(known(agent?.memory)).toEqual(memory);
      expect(known(agent?.steps)).toEqual(steps);
      const bytes = [...memory, ...steps].map(([name, value]) => weigh({ [name]: value }));
      expect(agent?.memoryBytes ?? 0).toBe(bytes.reduce((sum, one) => sum + one, 0));
    });
  });

  it('has at most one value for each callback, and only for one that was open', () => {
    always((moments) => {
      const { facts, state } = moments.at(-1)!;
      const opened = new Map<string, string>();
      const values = new Map<string, unknown>();
      for (const fact of facts) {
        if (fact.type === 'callback-opened') opened.set(fact.id, fact.expiresAt);
        if (fact.type !== 'callback-received') continue;
        expect(opened.get(fact.id)).toBeDefined();
        expect(values.has(fact.id)).toBe(false);
        values.set(fact.id, fact.value);
      }
      for (const [id, { value }] of Object.entries(state!.agent?.callbacks ?? {}))
        expect(value).toEqual(values.get(id));
    });
  });

  it('runs no attempt while a turn is paused, and counts how the attempts ended', () => {
    always(
      (moments) => {
        const { facts } = moments.at(-1)!;
        let [paused, failures, pauses] = [false, 0, 0];
        facts.forEach((fact, index) => {
          if (fact.type === 'turn-started') {
            paused = false;
            if (fact.attempt === 1) [failures, pauses] = [0, 0];
          } else if (fact.type === 'turn-failed' || fact.type === 'turn-paused') {
            expect(paused).toBe(false);
            paused = fact.type === 'turn-paused' || fact.retryAt !== undefined;
            if (fact.type === 'turn-failed') failures++;
            else pauses++;
          } else if (fact.type === 'step-failed' || fact.type === 'step-completed')
            expect(paused).toBe(false);
          else if (fact.type === 'turn-ended') paused = false;
          const { openTurn } = replay(facts.slice(0, index + 1))!;
          if (!openTurn) return;
          expect(openTurn.pausedUntil !== undefined).toBe(paused);
          expect([openTurn.failures ?? 0, openTurn.pauses ?? 0]).toEqual([failures, pauses]);
        });
      },
      randomLog,
      100,
    );
  });

  it('numbers its turns 1, 2, 3, and the attempts of each likewise', () => {
    always((moments) => {
      const { facts } = moments.at(-1)!;
      let [turn, attempt] = [0, 0];
      for (const fact of facts) {
        if (fact.type !== 'turn-started') continue;
        [turn, attempt] = fact.turn === turn ? [turn, attempt + 1] : [turn + 1, 1];
        expect([fact.turn, fact.attempt]).toEqual([turn, attempt]);
      }
    });
  });
});

/** All of them: the compiler misses a fact that is added. */
const factTypes: Readonly<Record<Fact['type'], true>> = {
  'message-received': true,
  'task-created': true,
  answered: true,
  'turn-started': true,
  'message-taken': true,
  'turn-ended': true,
  woken: true,
  'wake-set': true,
  'status-changed': true,
  'artifact-updated': true,
  'cancel-requested': true,
  'step-completed': true,
  'child-updated': true,
  'step-failed': true,
  'turn-failed': true,
  'turn-paused': true,
  'memory-changed': true,
  'turn-logged': true,
  'callback-opened': true,
  'callback-received': true,
  'labels-set': true,
};

it('the random logs reach every kind of fact, every state and every refusal', () => {
  const moments = fc.sample(randomLog, { numRuns: 400, seed: 1 }).flat();
  const facts = moments.flatMap(({ added }) => added);
  expect(new Set(facts.map(({ type }) => type))).toEqual(new Set(Object.keys(factTypes)));
  expect(new Set(moments.map(({ state }) => state?.task?.status.state)).size).toBe(9);
  expect(new Set(moments.flatMap(({ refused }) => refused?.reason ?? []))).toEqual(
    new Set([
      'TASK_NOT_FOUND',
      'INVALID_PARAMS',
      'UNSUPPORTED_OPERATION',
      'INVALID_AGENT_RESPONSE',
      'TASK_NOT_CANCELABLE',
      'MESSAGE_ID_CONFLICT',
      'INTERNAL_ERROR',
    ]),
  );
  const stale = moments.filter(({ attempt, added }) => attempt.behind > 0 && added.length > 0);
  expect(stale.length).toBeGreaterThan(100);
});
