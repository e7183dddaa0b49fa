import {
  type Agent,
  artifact,
  authRequired,
  canceled,
  completed,
  data,
  failed,
  rejected,
  type TaskUpdate,
  working,
} from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { type Answer, type Service, serveTasks } from './service.ts';

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

const finals = ['completed', 'failed', 'canceled'];

/** Waits until the task has what `find` finds, or has ended. */
const seen = (service: Service, find: (task: Answer['body']) => unknown) =>
  service.until('t', (task) => finals.includes(task.status) || find(task));

/** The status before the event. */
const reach: Record<string, (service: Service, agent: Puppet) => Promise<unknown>> = {
  created: async () => {},
  in_progress: (service, { say }) => {
    say(working());
    return seen(service, (task) => task.status === 'in_progress');
  },
  'in_progress with a form': (service, { say }) => {
    say(authRequired('How much?'));
    return seen(service, ({ form }) => form);
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
    return seen(service, (task) => task.status === 'in_progress');
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
    const { form } = (await service.get('/task/t')).body;
    const answer = await service.post('/task/t/input', { values: { text: '5' } });
    expect(answer.status).toBe(form ? 202 : 409);
    if (!form) return;
    say(working('Thank you'));
    await service.until('t', (task) => !task.form);
  },
  'the host submits it again': async (service) => {
    const { status } = await service.post('/task', { taskId: 't', type: 'puppet', data: {} });
    expect(status).toBe(200);
  },
  'the host submits other data': async (service) => {
    const { status } = await service.post('/task', { taskId: 't', type: 'puppet', data: { n: 1 } });
    expect(status).toBe(409);
  },
};

/** Every status and every event: what the task is afterwards. */
const table = `
                            | created     | in_progress | in_progress with a form | completed | failed | canceled
the agent starts            | in_progress | in_progress | in_progress             | completed | failed | canceled
the agent reports           | in_progress | in_progress | in_progress             | completed | failed | canceled
the agent asks              | in_progress | in_progress | in_progress             | completed | failed | canceled
the agent completes         | completed   | completed   | completed               | completed | failed | canceled
the agent fails             | failed      | failed      | failed                  | completed | failed | canceled
the agent rejects           | failed      | failed      | failed                  | completed | failed | canceled
the agent cancels           | canceled    | canceled    | canceled                | completed | failed | canceled
the host cancels            | canceled    | canceled    | canceled                | completed | failed | canceled
the host answers            | created     | in_progress | in_progress             | completed | failed | canceled
the host submits it again   | created     | in_progress | in_progress             | completed | failed | canceled
the host submits other data | created     | in_progress | in_progress             | completed | failed | canceled
`;

const [[, ...froms] = [], ...lines] = table
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()));
const cells = lines.flatMap(([event = '', ...tos]) => tos.map((to, n) => [froms[n]!, event, to] as const));

/** The arrows of the two diagrams of the seed: its flowchart, and what the host gets in its sequence diagram. */
const arrows: readonly (readonly [arrow: string, events: readonly string[], gets: readonly string[]])[] = [
  ['created → in_progress', ['the agent starts'], []],
  ['created → in_progress → completed', ['the agent starts', 'the agent completes'], ['result']],
  ['created → in_progress → failed', ['the agent starts', 'the agent fails'], ['error']],
  ['created → in_progress → canceled', ['the agent starts', 'the host cancels'], []],
  ['created → in_progress → canceled', ['the agent starts', 'the agent cancels'], []],
  ['created → canceled', ['the host cancels'], []],
];

const start = async () => {
  const agent = puppet();
  const service = await serveTasks({ types: { puppet: agent.agent } });
  await service.post('/task', { taskId: 't', type: 'puppet', data: {} });
  return { agent, service };
};

const pathOf = async (service: Service): Promise<string> => {
  const { transitions } = (await service.get('/task/t/history')).body;
  const path = transitions.map((each: { status: string }) => each.status);
  return path.filter((each: string, n: number) => each !== path[n - 1]).join(' → ');
};

describe('the diagrams of the seed', () => {
  it.each(arrows)('%s, by %j', async (path, steps, gets) => {
    const { agent, service } = await start();
    for (const event of steps) await events[event]!(service, agent);
    expect(await pathOf(service)).toBe(path);
    const { body } = await service.get('/task/t');
    expect(Object.keys(body).filter((member) => ['result', 'error'].includes(member))).toEqual(gets);
  });

  it('have each status of the table, and no other', () => {
    const drawn = new Set(arrows.flatMap(([path]) => path.split(' → ')));
    expect([...drawn].sort()).toEqual([...new Set(cells.map(([, , to]) => to))].sort());
  });
});

describe('a task that is', () => {
  it.each(cells)('%s, when %s, is %s', async (from, event, to) => {
    const { agent, service } = await start();
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
    expect(await pathOf(service)).toMatch(
      /^created( → in_progress( → (completed|failed|canceled))?| → canceled)?$/,
    );
  });

  it('completed has the result of its artifact', async () => {
    const { agent, say } = puppet();
    const service = await serveTasks({ types: { puppet: agent } });
    await service.post('/task', { taskId: 't', type: 'puppet', data: {} });
    say(artifact('report', data({ pages: 3 })), completed());
    expect(await service.ended('t')).toMatchObject({ result: { pages: 3 } });
  });
});
