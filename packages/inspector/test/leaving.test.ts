import { createServer } from 'node:http';
import { inputRequired, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { listen } from '../../../test/kit/listen.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually, until } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { countHeld } from '../../../test/leaving/held.ts';
import { clients, closedDoor, comeAndLeave, visitUrl } from '../../../test/leaving/visits.ts';
import { inspector } from '../src/index.ts';
import { Recording } from '../src/timeline/recording.ts';

/**
 * An inspector of one agent by its server (`near`) and by its address (`far`), with a task that is at work or waits for
 * input. Viewers, and the stores that the inspector reads, wait at doors once they are told to.
 */
async function serveInspector(what: 'ask' | 'work') {
  const held = countHeld();
  const doors = { arrival: closedDoor(), storage: closedDoor() };
  const closed = { arrival: false, storage: false };
  const store = change(held.store, {
    list: (list) => async (scope, query) => {
      if (closed.storage) await doors.storage.pass();
      return list(scope, query);
    },
    load: (load) => async (scope, id) => {
      if (closed.storage) await doors.storage.pass();
      return load(scope, id);
    },
  });
  const server = serve(
    async function* ({ text, signal }) {
      if (text === 'ask') return yield inputRequired('Well?');
      yield working('At it');
      await untilAborted(signal);
    },
    { store: held.store, name: 'near' },
  );
  const agent = createServer({ keepAliveTimeout: 1 }, nodeHandler(server));
  const far = await listen(held.watch(agent, ' of the agent'));
  const inspected = inspector({
    agents: [
      { name: 'near', server, store },
      { name: 'far', url: far },
    ],
    async authenticate() {
      if (closed.arrival) await doors.arrival.pass();
      return {};
    },
  });
  onTestFinished(() => inspected.close());
  const url = await listen(held.watch(createServer(inspected)));
  const configuration = { returnImmediately: true };
  const { task } = await rpc(server, 'SendMessage', { message: say(what), configuration });
  await until(server, task.id, what === 'ask' ? 'INPUT_REQUIRED' : 'WORKING');
  // Reads the card, which the inspector keeps.
  await (await fetch(`${url}/api/session`)).text();
  await (await fetch(`${url}/api/agents/far/tasks`)).text();
  /** A recording goes on for a while. Lets that time pass, once nobody reads the only one. */
  const endRecording = (path: string) =>
    path.startsWith('/agents/far/tasks/') &&
    eventually(() => expect(held.pass('inspector/src/timeline/recording.ts')).toBe(1));
  return { held, url, doors, closed, id: task.id as string, endRecording };
}

/** The live pages of the inspector, by the name of the task that they are about. */
const pages = [
  ['the list of tasks', () => '/feed?agent=near'],
  ['the list of tasks of an agent elsewhere', () => '/feed?agent=far'],
  ['the log of a task', (id: string) => `/agents/near/tasks/${id}/timeline`],
  ['the recording of a task', (id: string) => `/agents/far/tasks/${id}/timeline`],
  ['the requests to an agent', () => '/agents/far/wire'],
] as const;

describe.each(pages)('viewers of a live page that leave: %s', (_, path) => {
  it.each(['work', 'ask'] as const)('leave nothing behind in the middle: %s', async (what) => {
    const { held, url, id, endRecording } = await serveInspector(what);
    let begun = 0;
    const count = () => {
      begun += 1;
    };
    await comeAndLeave(held, {
      visit: (_, signal) => visitUrl(`${url}/api${path(id)}`, signal, { begun: count }),
      areThere: () => expect(begun).toBe(clients),
      afterwards: () => endRecording(path(id)),
    });
  });

  it('leave nothing behind before the inspector knows who they are', async () => {
    const { held, url, id, doors, closed, endRecording } = await serveInspector('work');
    closed.arrival = true;
    await comeAndLeave(held, {
      visit: (_, signal) => visitUrl(`${url}/api${path(id)}`, signal),
      areThere: () => expect(doors.arrival.waiting).toBe(clients),
      afterwards() {
        doors.arrival.open();
        return endRecording(path(id));
      },
    });
  });
});

describe('viewers of a live page that leave while the store answers', () => {
  it.each([
    // All wait for one look at what the tasks wait for.
    ['the list of tasks', () => '/feed?agent=near', { begun: clients, waiting: 1 }],
    [
      'the log of a task',
      (id: string) => `/agents/near/tasks/${id}/timeline`,
      { begun: 0, waiting: clients },
    ],
  ] as const)('leave nothing behind: %s', async (_, path, there) => {
    const { held, url, id, doors, closed } = await serveInspector('work');
    closed.storage = true;
    let begun = 0;
    const count = () => {
      begun += 1;
    };
    await comeAndLeave(held, {
      visit: (_, signal) => visitUrl(`${url}/api${path(id)}`, signal, { begun: count }),
      areThere() {
        expect(begun).toBe(there.begun);
        expect(doors.storage.waiting).toBeGreaterThanOrEqual(there.waiting);
      },
      afterwards: doors.storage.open,
    });
  });
});

it('a reader of a recording that leaves at once is none: the recording ends as after any other', async () => {
  const held = countHeld();
  const recording = new Recording();
  recording.follow(() => new Promise(() => {}));
  for await (const update of recording.feed({ after: 0, source: null }, new AbortController().signal)) {
    expect(update.type).toBe('open');
    break;
  }
  expect(held.pass('inspector/src/timeline/recording.ts')).toBe(1);
});

it('a recording whose agent cannot be followed, or that was stopped, waits for nothing', async () => {
  const held = countHeld();
  const failed = new Recording();
  failed.follow(() => Promise.reject(new Error('Gone')));
  await eventually(() => expect(failed.failure).toBeDefined());
  const stopped = new Recording();
  stopped.follow(() => new Promise(() => {}));
  for await (const _ of stopped.feed({ after: 0, source: null }, new AbortController().signal)) {
    stopped.stop();
    break;
  }
  expect(held.pass('inspector/src/timeline/recording.ts')).toBe(0);
});
