import {
  type Command,
  changesGeneration,
  decide,
  type Fact,
  generationOf,
  replay,
  Timeline,
  viewTask,
} from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { answer, create, endTurn, given, receive, said, startTurn, text, to } from './given.ts';

/** What counts. */
const rule: Record<Fact['type'], boolean> = {
  'message-received': true,
  'task-created': true,
  answered: true,
  'status-changed': true,
  'artifact-updated': true,
  'turn-started': false,
  'turn-ended': false,
  'message-taken': false,
  'step-completed': false,
  'cancel-requested': false,
  'child-updated': false,
  'step-failed': false,
  'turn-failed': false,
  'turn-paused': false,
  'memory-changed': false,
  'turn-logged': false,
  'labels-set': false,
  'callback-opened': false,
  'callback-received': false,
  'wake-set': false,
  woken: false,
};

describe('the generation of a task', () => {
  it.each(Object.entries(rule))(
    'counts %s as A2A 1.1 has it [R-P11-10] [R-P11-34] [R-P11-50]',
    (type, counts) => {
      expect(changesGeneration({ type } as Fact)).toBe(counts);
    },
  );

  it('is what clients saw, the same in state and head, and their further messages [R-P11-34] [R-P11-50]', () => {
    const log = [receive('m1'), create, startTurn, to('WORKING', 'w'), receive('m2'), endTurn] as const;
    const { state, head, now } = given(...log);
    expect([state?.generation, head?.generation, generationOf(now)]).toEqual([2, 2, 3]);
    const answered = given(receive('m1'), startTurn, answer('r'));
    expect(answered.state?.generation).toBe(1);
  });

  it('is in the view of a task where it is wanted', () => {
    const { state } = given(receive('m1'), create, startTurn, to('WORKING', 'w'), endTurn);
    expect(viewTask(state!, { generation: true }).generation).toBe('2');
    expect(viewTask(state!)).not.toHaveProperty('generation');
  });
});

describe('the timeline of a task', () => {
  const part = (artifactId: string, more: object = {}): Command => ({
    type: 'update',
    update: { artifact: { artifactId, parts: [text('x')] }, ...more },
  });
  const log = given(
    receive('m1'),
    create,
    startTurn,
    to('WORKING', 'w'),
    part('a'),
    part('b', { lastChunk: true }),
    receive('m2'),
    part('a', { append: true }),
    part('c', { append: false }),
    part('c', { append: false }),
  );
  const shown = (facts: readonly Fact[], length = 1_000) => {
    const timeline = new Timeline(length);
    for (const fact of facts) timeline.add(fact);
    return viewTask(replay(facts)!, { timeline, generation: true });
  };
  const places = (task: ReturnType<typeof viewTask>) =>
    task.timeline?.map((entry) => [
      entry.generation,
      'message' in entry ? entry.message.messageId : entry.status.message?.messageId,
    ]);

  it('has messages of clients and statuses, with the generation after each [R-P11-41] [R-P11-51] [R-P11-55] [R-P11-59]', () => {
    expect(places(shown(log.facts))).toEqual([
      ['1', 'm1'],
      ['2', 'w'],
      ['5', 'm2'],
    ]);
    expect(shown(log.facts)).toMatchObject({ generation: '8' });
    expect(viewTask(log.now)).not.toHaveProperty('timeline');
  });

  it('has a message once, and none of a client with the id of one of the agent, as the state', () => {
    const { facts, now } = given(receive('m1'), create, startTurn, to('WORKING', 'w'), receive('m2'));
    const again = [
      ...facts,
      facts.at(-1)!,
      { ...facts.at(-1)!, message: said('w', { taskId: 'task' }) } as Fact,
    ];
    expect(places(shown(again))).toEqual(places(shown(facts)));
    expect(generationOf(replay(again)!)).toBe(generationOf(now));
  });

  it('has the newest entries only, where fewer are wanted [R-P11-57]', () => {
    expect(places(shown(log.facts, 2))).toEqual([
      ['2', 'w'],
      ['5', 'm2'],
    ]);
    expect(shown(log.facts, 0)).not.toHaveProperty('timeline');
  });

  it('has artifacts beside it, which end with their last chunk or with the task [R-P11-42] [R-P11-56]', () => {
    const spans = (facts: readonly Fact[]) =>
      shown(facts).artifacts!.map((one) => [one.artifactId, one.startGeneration, one.endGeneration]);
    expect(spans(log.facts)).toEqual([
      ['a', '3', undefined],
      ['b', '4', '4'],
      ['c', '8', undefined],
    ]);
    const { now, facts } = log;
    const ended = [...facts, ...decide(now, to('COMPLETED'), now.at)];
    expect(spans(ended)).toEqual([
      ['a', '3', '6'],
      ['b', '4', '4'],
      ['c', '8', '8'],
    ]);
  });

  it('is not that of an artifact that another agent gave [R-P11-30]', () => {
    const artifact = { artifactId: 'a', parts: [text('x')], startGeneration: '7', endGeneration: '9' };
    const handed = decide(log.now, { type: 'update', update: { artifact } }, log.now.at);
    expect(JSON.stringify(handed)).not.toContain('Generation');
  });
});

describe('a message on a condition', () => {
  const asking = [receive('m1'), create, startTurn, to('INPUT_REQUIRED', 'Well?'), endTurn] as const;
  const on = (messageId: string, ifGeneration: number) =>
    ({ type: 'receive', message: said(messageId, { taskId: 'task' }), ifGeneration }) as const;

  it('is received at that generation [R-P11-15]', () => {
    expect(given(...asking, on('m2', 2)).facts.at(-1)).toMatchObject({ type: 'message-received' });
  });

  it.each([0, 1, 3])('is refused at another one: %i [R-P11-15]', (ifGeneration) => {
    expect(() => given(...asking, on('m2', ifGeneration))).toThrow('Task has changed');
  });

  it('is refused if another message was accepted meanwhile, on a condition or not [R-P11-36] [R-P11-50]', () => {
    for (const other of [on('m2', 2), receive('m2')])
      expect(() => given(...asking, other, on('m3', 2))).toThrow('Task has changed');
    expect(given(...asking, receive('m2'), on('m3', 3)).facts.at(-1)).toMatchObject({
      message: { messageId: 'm3' },
    });
  });

  it('joins its original when it is repeated [R-P11-36]', () => {
    const { facts } = given(...asking, on('m2', 2));
    expect(given(...asking, on('m2', 2), on('m2', 2)).facts).toEqual(facts);
  });
});
