import {
  type Agent,
  artifact,
  canceled,
  completed,
  data,
  failed,
  inputRequired,
  rejected,
  type TaskUpdate,
  working,
} from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { type Service, serveTasks } from './service.ts';

/** An agent whose tasks do what the test says, one update after the other. */
function puppet() {
  const said: TaskUpdate[] = [];
  let changed = Promise.withResolvers<void>();
  const agent: Agent = async function* ({ signal }) {
    signal.addEventListener('abort', () => changed.resolve());
    for (;;) {
      const update = said.shift();
      if (update) yield update;
      else if (signal.aborted) return yield canceled();
      else {
        changed = Promise.withResolvers();
        await changed.promise;
      }
    }
  };
  const say = (...updates: TaskUpdate[]) => {
    said.push(...updates);
    changed.resolve();
  };
  return { agent: serve(agent), say };
}

type Puppet = ReturnType<typeof puppet>;

const status = (service: Service) => service.get('/task/t').then(({ body }) => body.status);

/** The status before the event. */
const reach: Record<string, (service: Service, agent: Puppet) => Promise<unknown>> = {
  created: async () => {},
  in_progress: (service, { say }) => {
    say(working());
    return service.until('t', (task) => task.status === 'in_progress');
  },
  'in_progress with a form': (service, { say }) => {
    say(inputRequired('How much?'));
    return service.until('t', ({ form }) => form);
  },
  completed: (service, { say }) => {
    say(completed());
    return service.ended('t');
  },
  failed: (service, { say }) => {
    say(failed({ code: 'NO_MONEY', message: 'The purse is empty' }));
    return service.ended('t');
  },
  canceled: (service) => service.post('/task/t/cancel'),
};

/** What happens to the task. */
const events: Record<string, (service: Service, agent: Puppet) => Promise<unknown>> = {
  'the agent starts': (service, agent) => reach.in_progress!(service, agent),
  'the agent reports': (service, { say }) => {
    say(working('Half'));
    return service.until('t', (task) => task.status === 'in_progress');
  },
  'the agent asks': (service, agent) => reach['in_progress with a form']!(service, agent),
  'the agent completes': (service, agent) => reach.completed!(service, agent),
  'the agent fails': (service, agent) => reach.failed!(service, agent),
  'the agent rejects': (service, { say }) => {
    say(rejected('Not mine'));
    return service.ended('t');
  },
  'the agent cancels': (service, { say }) => {
    say(canceled());
    return service.ended('t');
  },
  'the host cancels': (service) => service.post('/task/t/cancel'),
  'the host answers': async (service, { say }) => {
    say(working('Thank you'));
    const answer = await service.post('/task/t/input', { values: { text: '5' } });
    if (answer.status === 202) await service.until('t', ({ form }) => !form);
    return answer;
  },
  'the host submits it again': (service) => service.post('/task', { taskId: 't', type: 'puppet', data: {} }),
};

const hostEvents = ['the host cancels', 'the host answers', 'the host submits it again'];
const finals = ['completed', 'failed', 'canceled'];

/** The two diagrams of the seed, row by row: from, event, to. */
const diagram: readonly (readonly [from: string, event: string, to: string])[] = [
  ['created', 'the agent starts', 'in_progress'],
  ['created', 'the agent asks', 'in_progress'],
  ['created', 'the agent completes', 'completed'],
  ['created', 'the agent fails', 'failed'],
  ['created', 'the agent rejects', 'failed'],
  ['created', 'the agent cancels', 'canceled'],
  ['created', 'the host cancels', 'canceled'],
  ['created', 'the host submits it again', 'created'],
  ['in_progress', 'the agent reports', 'in_progress'],
  ['in_progress', 'the agent asks', 'in_progress'],
  ['in_progress', 'the agent completes', 'completed'],
  ['in_progress', 'the agent fails', 'failed'],
  ['in_progress', 'the agent rejects', 'failed'],
  ['in_progress', 'the agent cancels', 'canceled'],
  ['in_progress', 'the host cancels', 'canceled'],
  ['in_progress', 'the host answers', 'in_progress'],
  ['in_progress', 'the host submits it again', 'in_progress'],
  ['in_progress with a form', 'the host answers', 'in_progress'],
  ['in_progress with a form', 'the host cancels', 'canceled'],
  ['in_progress with a form', 'the host submits it again', 'in_progress'],
  ...finals.flatMap((final) => hostEvents.map((event) => [final, event, final] as const)),
];

describe('a task that is', () => {
  it.each(diagram)('%s, when %s, is %s', async (from, event, to) => {
    const agent = puppet();
    const service = await serveTasks({ types: { puppet: agent.agent } });
    await service.post('/task', { taskId: 't', type: 'puppet', data: {} });
    await reach[from]!(service, agent);
    expect(await status(service)).toBe(from.split(' ')[0]);
    const before = await service.get('/task/t/history');

    await events[event]!(service, agent);
    const { body } = await service.get('/task/t');
    expect(body.status).toBe(to);
    expect('result' in body).toBe(to === 'completed');
    expect('error' in body).toBe(to === 'failed');

    const { transitions } = (await service.get('/task/t/history')).body;
    if (finals.includes(from)) expect(transitions).toEqual(before.body.transitions);
    // Every task is in progress before it ends, unless it is canceled before an agent takes it.
    const path = transitions.map((each: { status: string }) => each.status);
    const steps = path.filter((each: string, n: number) => each !== path[n - 1]).join(' → ');
    expect(steps).toMatch(/^created( → in_progress( → (completed|failed|canceled))?| → canceled)?$/);
  });

  it('completed has the result of its artifact', async () => {
    const { agent, say } = puppet();
    const service = await serveTasks({ types: { puppet: agent } });
    await service.post('/task', { taskId: 't', type: 'puppet', data: {} });
    say(artifact('report', data({ pages: 3 })), completed());
    expect(await service.ended('t')).toMatchObject({ result: { pages: 3 } });
  });
});
