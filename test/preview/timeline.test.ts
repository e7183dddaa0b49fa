import { v03 } from '@batonjs/bindings-v0-3';
import { GENERATION } from '@batonjs/protocol/headers';
import {
  type AgentServerOptions,
  append,
  artifact,
  completed,
  inputRequired,
  type Turn,
  type Updates,
  working,
} from '@batonjs/server';
import { expect, it } from 'vitest';
import { type Seen, say } from '../kit/rpc.ts';
import { everywhere, open } from '../protocol/peer.ts';

const active = { 'a2a-extensions': GENERATION };
const preview = { compatibility: ['1.1'] } as const;

/** Progress, a streamed artifact, and two questions. */
async function* asking({ text }: Turn): Updates {
  yield working('On it');
  if (text === 'ask') return yield inputRequired('Well?');
  yield artifact('quote', 'a');
  yield working('Still on it');
  yield append('quote', 'b');
  yield completed();
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON with matchers
const content = ({ event }: Seen): any => Object.values(event)[0];

async function all(events: AsyncIterable<Seen>): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** The entries of a task's timeline in short. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON with matchers
const told = ({ timeline = [] }: any): string[] =>
  timeline.map(
    // biome-ignore lint/suspicious/noExplicitAny: as above
    ({ generation, message, status }: any) =>
      `${generation} ${message ? `"${message.parts[0].text}"` : status.state.slice('TASK_STATE_'.length)}`,
  );

const first = ['1 "ask"', '2 WORKING', '3 INPUT_REQUIRED'];
const whole = [
  ...first,
  '4 "ask"',
  '5 WORKING',
  '6 WORKING',
  '7 INPUT_REQUIRED',
  '8 "go"',
  '9 WORKING',
  '10 WORKING',
  '12 WORKING',
  '14 COMPLETED',
];

everywhere('The timeline of a task', (serve) => {
  it('is its log as clients saw it: messages and statuses in order, by send, get, list, cancel and streams [R-P11-40] [R-P11-41] [R-P11-50] [R-P11-52] [R-P11-55] [R-P11-51] [R-P11-58] [R-P11-76]', async () => {
    const { call, stream } = await serve(asking, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    const { id } = task;
    expect([told(task), task.generation]).toEqual([first, '3']);
    // Another client asks again.
    await call('SendMessage', { message: say('ask', { taskId: id }) });
    const seen = await all(stream('SendStreamingMessage', { message: say('go', { taskId: id }) }, active));
    expect(told(content(seen[0]!))).toEqual(whole.slice(0, 8));
    // One more with each event: the message itself was no event.
    expect(seen.map((event) => content(event).generation)).toEqual(['8', '9', '10', '11', '12', '13', '14']);
    const got = await call('GetTask', { id }, active);
    expect([told(got), got.generation]).toEqual([whole, '14']);
    const [listed] = (await call('ListTasks', { timelineLength: 20, includeArtifacts: true }, active)).tasks;
    expect(listed).toMatchObject({ timeline: got.timeline, artifacts: got.artifacts, generation: '14' });
    const position = { 'last-event-id': seen[2]!.id! };
    const rest = await all(stream('SubscribeToTask', { id }, { ...active, ...position }));
    expect(rest.map((event) => content(event).generation)).toEqual(['11', '12', '13', '14']);
    const open = (await call('SendMessage', { message: say('ask') }, active)).task.id;
    const following = stream('SubscribeToTask', { id: open }, active);
    const { value } = await following.next();
    expect(told(content(value as Seen))).toEqual(first);
    await following.return(undefined);
    expect(told(await call('CancelTask', { id: open }, active))).toEqual([...first, '4 CANCELED']);
  });

  it('begins with the message and what came with it in a stream of a new task [R-P11-59]', async () => {
    const { stream } = await serve(asking, preview);
    const [begun, ...rest] = await all(stream('SendStreamingMessage', { message: say('ask') }, active));
    const { timeline, generation } = content(begun!);
    expect(told({ timeline })[0]).toBe('1 "ask"');
    expect(Number(rest[0] && content(rest[0]).generation)).toBe(Number(generation) + 1);
  });

  it('says where artifacts began and ended, on tasks and on no event [R-P11-42] [R-P11-56]', async () => {
    const { call, stream } = await serve(asking, preview);
    const seen = await all(stream('SendStreamingMessage', { message: say('go') }, active));
    expect(JSON.stringify(seen)).not.toMatch(/(start|end)Generation/);
    const { id } = content(seen[0]!);
    const { artifacts } = await call('GetTask', { id }, active);
    expect(artifacts).toMatchObject([{ artifactId: 'quote', startGeneration: '3', endGeneration: '5' }]);
  });

  it('is as long as is wanted: the newest, none, or all; a list has none by default [R-P11-43] [R-P11-44] [R-P11-45] [R-P11-57]', async () => {
    const { call } = await serve(asking, preview);
    const configuration = { timelineLength: 1 };
    const { task } = await call('SendMessage', { message: say('ask'), configuration }, active);
    expect(told(task)).toEqual(['3 INPUT_REQUIRED']);
    const { id } = task;
    const lengths = [undefined, 0, 1, '2', 99] as const;
    const got = await Promise.all(
      lengths.map(async (timelineLength) =>
        told(await call('GetTask', { id, timelineLength } as object, active)),
      ),
    );
    expect(got).toEqual([first, [], first.slice(2), first.slice(1), first]);
    const lists = await Promise.all(
      lengths.map(async (timelineLength) => {
        const { tasks } = await call('ListTasks', { timelineLength } as object, active);
        expect(tasks[0].generation).toBe('3');
        return told(tasks[0]);
      }),
    );
    expect(lists).toEqual([[], ...got.slice(1)]);
    expect(await call('GetTask', { id, timelineLength: 0 }, active)).not.toHaveProperty('timeline');
    for (const [name, params] of [
      ['GetTask', { id, timelineLength: '-1' }],
      ['ListTasks', { timelineLength: 'x' }],
    ] as const)
      await expect(call(name, params, active)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('leaves `history` and the message of the status as they are [R-P11-46] [R-P11-75]', async () => {
    const { call } = await serve(asking, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    await call('SendMessage', { message: say('ask', { taskId: task.id }) });
    const { timeline, generation, ...rest } = await call('GetTask', { id: task.id }, active);
    expect(rest).toEqual(await call('GetTask', { id: task.id }));
  });

  it('counts messages of clients, also for what waits and what is sent on a condition [R-P11-15] [R-P11-50]', async () => {
    const { call } = await serve(asking, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    const { id } = task;
    await call('SendMessage', { message: say('ask', { taskId: id }) });
    const byVersion = await call('GetTask', { id, currentGeneration: 6 }, { 'a2a-version': '1.1' });
    expect([byVersion.generation, told(byVersion)]).toEqual(['7', whole.slice(0, 7)]);
    const on = (ifGenerationMatch: number) =>
      call(
        'SendMessage',
        {
          message: say('ask', { taskId: id }),
          configuration: { ifGenerationMatch, returnImmediately: true },
        },
        active,
      );
    await expect(on(6)).rejects.toMatchObject({ metadata: { currentGeneration: '7' } });
    expect((await on(7)).task.id).toBe(id);
  });

  it('is left out where a reply has no room for it', async () => {
    const { call } = await serve(asking, { ...preview, limits: { replyBytes: 2_000 } });
    const long = 'x'.repeat(300);
    const { task } = await call('SendMessage', { message: say(long) }, active);
    const { timeline, metadata } = await call('GetTask', { id: task.id }, active);
    expect([timeline, Object.values(metadata)]).toEqual([undefined, [['timeline']]]);
  });
});

/** Text without what differs from run to run: ids, times and positions. */
const alike = (text: string) =>
  text
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/[\w-]+\.\d+~\w+/g, 'EVENT');

it.each(['message/send', 'message/stream'])(
  '0.3 has the same bytes whether it is offered or not: %s [R-P11-75]',
  async (method) => {
    const answers = async (compatibility: AgentServerOptions['compatibility']) => {
      const setting = { binding: 'JSONRPC', adapter: 'in process', store: 'memory' } as const;
      const { fetch } = await open(setting, asking, { compatibility });
      const message = {
        kind: 'message',
        messageId: 'm1',
        role: 'user',
        parts: [{ kind: 'text', text: 'go' }],
      };
      const params = { message, configuration: { blocking: true, timelineLength: 5 } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json', 'a2a-extensions': GENERATION };
      return alike(await (await fetch('', { method: 'POST', headers, body })).text());
    };
    const offered = await answers([v03(), '1.1']);
    expect(offered).toContain('completed');
    expect(offered).toBe(await answers([v03()]));
  },
);

everywhere('A client that does not ask', (serve) => {
  it('gets the same bytes whether the timeline is offered or not [R-P11-30] [R-P11-75]', async () => {
    const answers = async (options: object) => {
      const { call, stream } = await serve(asking, options);
      const seen = await all(stream('SendStreamingMessage', { message: say('ask', { messageId: 'm1' }) }));
      const { id } = content(seen[0]!);
      const more = { id, timelineLength: 5 };
      const message = say('go', { taskId: id, messageId: 'm2' });
      const configuration = { timelineLength: 5 };
      const rest = [
        await call('SendMessage', { message, configuration } as object),
        await call('GetTask', more),
        await call('ListTasks', { includeArtifacts: true, timelineLength: 5 } as object),
      ];
      return alike(JSON.stringify([seen, rest]));
    };
    expect(await answers(preview)).toBe(await answers({}));
  });
});
