import type { TaskUpdate } from '@batonjs/lifecycle';
import { type Commit, StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { frequentPolls } from '../../../../test/kit/frequent-polls.ts';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import {
  type Agent,
  append,
  artifact,
  completed,
  emitting,
  failed,
  inputRequired,
  text,
  working,
} from '../../src/index.ts';

const updates = [
  working(),
  artifact('quote', text('1')),
  append('quote', text('2')),
  working('Nearly'),
  completed(),
];

/** `settled`: called with the number of each update that its agent knows to be stored. */
const emits = (all: readonly TaskUpdate[], settled: (n: number) => void = () => {}): Agent =>
  emitting(async (emit) => {
    await Promise.all(all.map((update, n) => emit(update).then(() => settled(n))));
  });

const yields = (all: readonly TaskUpdate[], settled: (n: number) => void = () => {}): Agent =>
  async function* () {
    for (const [n, update] of all.entries()) {
      yield update;
      settled(n);
    }
  };

/** A store that notes how many facts each commit had. */
function counting() {
  const commits: number[] = [];
  const store = change(memoryStore(), {
    commit: (commit) => (one) => {
      if (one.scope === scope) commits.push(one.facts.length);
      return commit(one);
    },
  });
  return { store, commits };
}

const now = { returnImmediately: true };

describe('States that are emitted without awaiting each', () => {
  it('share one commit with the artifacts between them, and followers see the same events as if each was yielded', async () => {
    const shown = async (agent: Agent) => {
      const { store, commits } = counting();
      const server = serve(agent, { store });
      const events = await collect(stream(server, 'SendStreamingMessage', { message: say('go') }));
      return { commits, events };
    };
    const [emitted, yielded] = [await shown(emits(updates)), await shown(yields(updates))];
    expect(emitted.events).toEqual(yielded.events);
    // The message, the task and its turn; then all that the agent says, and the end of the turn.
    expect(emitted.commits).toEqual([3, 6]);
    expect(yielded.commits).toEqual([3, 1, 1, 1, 1, 2]);
  });

  it('are stored alone where one of them is refused, and only that one rejects', async () => {
    const refused: string[] = [];
    const agent = emitting(async (emit) => {
      const all = [working(), append('unknown', text('x')), artifact('quote', text('1'))];
      await Promise.all(all.map((one) => emit(one).catch(() => refused.push(JSON.stringify(one)))));
    });
    const { task } = await rpc(serve(agent), 'SendMessage', { message: say('go') });
    expect(refused).toEqual([JSON.stringify(append('unknown', text('x')))]);
    expect([task.status.state, task.artifacts?.length]).toEqual(['TASK_STATE_FAILED', 1]);
  });

  it('end at a question, which has a commit of its own and gives the task back', async () => {
    const { store, commits } = counting();
    const agent = emits([artifact('quote', text('1')), working(), inputRequired('Which?')]);
    const server = serve(agent, { store });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(commits).toEqual([3, 2, 2]);
  });

  it('end with the task: what is emitted after it is never stored', async () => {
    const { store, commits } = counting();
    const late = Promise.withResolvers<unknown>();
    const agent = emitting(async (emit) => {
      void emit(working());
      void emit(completed());
      await emit(working()).catch(late.resolve);
    });
    const { task } = await rpc(serve(agent, { store }), 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await late.promise).toEqual(new TypeError('The turn is over'));
    expect(commits).toEqual([3, 3]);
  });

  it.each([
    ['canceled', completed(), 'CANCELED'],
    ['canceled, also if it failed', failed('Aborted'), 'CANCELED'],
    ['completed, if its agent finished before', { ...completed(), beforeCancel: true as const }, 'COMPLETED'],
  ])('after a cancel request, leave the task %s', async (_, end, state) => {
    const asked = Promise.withResolvers<void>();
    const agent = emitting(async (emit, { signal }) => {
      await emit(working());
      asked.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      void emit(artifact('quote', text('1')));
      await emit(end);
    });
    const server = serve(agent);
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    await asked.promise;
    // Refused once the task is completed.
    await rpc(server, 'CancelTask', { id: task.id }).catch(() => {});
    expect((await until(server, task.id, state)).artifacts).toHaveLength(1);
  });

  it('that are no updates fail the turn, and those before them are stored', async () => {
    const agent = emits([working(), { status: { state: 'NO_STATE' } } as never]);
    const { task } = await rpc(serve(agent), 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });
});

/** A store whose process is gone before or after it stores its n-th commit of a task: no call is answered then. */
function dyingStore(inner: TaskStore, nth: number, time: 'before' | 'after') {
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {});
  const dead = Promise.withResolvers<void>();
  let commits = 0;
  let isDead = false;
  const die = () => {
    isDead = true;
    dead.resolve();
    return gone.promise;
  };
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (isDead) return gone.promise;
        const isCommit = name === 'commit' && (args[0] as Commit).scope === scope;
        if (isCommit && ++commits === nth && time === 'before') return die();
        const answer = await member.apply(target, args);
        return isCommit && commits === nth ? die() : answer;
      };
    },
  });
  /** Calls are answered again, so that the server can close. Those that waited are refused. */
  const answerAll = () => {
    isDead = false;
    gone.reject(new StoreError('FENCED', 'Another process has the task'));
  };
  return { store, dead: dead.promise, answerAll };
}

describe('A process that is killed', () => {
  const when = ['before', 'after'] as const;
  const commitsOf = { emits: [2], yields: [2, 3, 4, 5, 6] } as const;
  const deaths = (['emits', 'yields'] as const).flatMap((how) =>
    commitsOf[how].flatMap((commit) => when.map((time) => ({ how, commit, time }))),
  );

  it.each(deaths)(
    '$time commit $commit of an agent that $how leaves all updates of whole commits, all that its agent knew of, and a task that goes on',
    async ({ how, commit, time }) => {
      let leaseNow = 0;
      const memory = memoryStore({ monotonic: () => leaseNow });
      const { store: dying, dead, answerAll } = dyingStore(memory, commit, time);
      const known: number[] = [];
      const make = how === 'emits' ? emits : yields;
      const first = serve(
        make(updates, (n) => void known.push(n)),
        { store: dying, restart: 'rerun' },
      );
      // Before the server is closed, which would wait for its store.
      onTestFinished(answerAll);
      const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration: now });
      await dead;

      const before = await memory.readFacts(scope, task.id, 0, 100);
      const seen = before.flatMap(({ fact }) =>
        fact.type === 'status-changed' || fact.type === 'artifact-updated' ? [fact] : [],
      );
      expect(seen.map(({ type }) => type)).toEqual(updates.slice(0, seen.length).map(typeOf));
      // Whole commits: nothing or all of what was emitted, and of what was yielded one more each time.
      const stored = commit - (time === 'before' ? 2 : 1);
      expect(seen.length).toBe(how === 'emits' ? stored * updates.length : stored);
      expect(known).toEqual(Array.from({ length: how === 'emits' ? 0 : commit - 2 }, (_, n) => n));

      leaseNow += 1e9;
      const second = serve(make(updates), { store: memory, restart: 'rerun', clock: frequentPolls() });
      const ended = await until(second, task.id, 'COMPLETED');
      expect(ended.artifacts?.map(({ parts }) => parts)).toEqual([[{ text: '1' }, { text: '2' }]]);
      const after = await memory.readFacts(scope, task.id, 0, 100);
      expect(after.slice(0, before.length)).toEqual(before);
    },
  );
});

const typeOf = (update: TaskUpdate): string => ('status' in update ? 'status-changed' : 'artifact-updated');
