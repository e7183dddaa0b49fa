import {
  answer,
  applyEvent,
  conversation,
  dataOf,
  isInterrupted,
  isTerminal,
  statusMessageIsLast,
  TaskView,
  textOf,
} from '@batonjs/client';
import type { Message, StreamResponse, Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { chunk, statusOf, taskIn } from '../serve.ts';

const said = (messageId: string, text: string, role: 'ROLE_AGENT' | 'ROLE_USER' = 'ROLE_AGENT'): Message => ({
  messageId,
  role,
  parts: [{ text }],
});
const task = (state: string, more: object = {}) => taskIn(state, more) as unknown as Task;
const event = (value: object) => value as unknown as StreamResponse;

describe('folding events into a task', () => {
  it('looks at none of the artifacts and messages before, however many there are', () => {
    let looks = 0;
    const watched = <T extends object>(item: T): T =>
      new Proxy(item, {
        get(target, name) {
          looks += 1;
          return Reflect.get(target, name);
        },
      });
    const artifactOf = (index: number) => ({ artifactId: `a${index}`, parts: [] });
    const view = new TaskView(task('WORKING'));
    const apply = (index: number) => {
      view.apply(event({ artifactUpdate: { taskId: 't-1', contextId: 'c-1', artifact: artifactOf(index) } }));
      const message = said(`m${index}`, 'x');
      const status = { state: 'TASK_STATE_WORKING', message };
      view.apply(event({ statusUpdate: { taskId: 't-1', contextId: 'c-1', status } }));
    };
    for (let index = 0; index < 1_000; index++) apply(index);
    view.task!.artifacts = view.task!.artifacts!.map(watched);
    view.task!.history = view.task!.history!.map(watched);
    for (let index = 1_000; index < 1_020; index++) apply(index);
    apply(500);
    expect(looks).toBeLessThan(10);
    expect(view.task!.artifacts).toHaveLength(1_020);
    expect(view.task!.history).toHaveLength(1_020);
  });

  it('finds artifacts in a list that was changed outside', () => {
    const view = new TaskView(
      event({ ...task('WORKING'), artifacts: [], history: [said('m0', 'x')] }) as never,
    );
    for (const text of ['one', 'two']) view.apply(event(chunk(text, text === 'two')));
    view.task!.artifacts = [{ artifactId: 'a-0', parts: [] }, ...view.task!.artifacts!];
    view.apply(event(chunk('three')));
    expect(view.task!.artifacts.map(({ parts }) => parts.length)).toEqual([0, 3]);
  });

  it('adds chunks, replaces artifacts, and changes the status', () => {
    const view = new TaskView();
    const events = [
      { task: taskIn('SUBMITTED') },
      statusOf('WORKING'),
      chunk('one', false),
      chunk('two'),
      {
        artifactUpdate: {
          taskId: 't-1',
          contextId: 'c-1',
          artifact: { artifactId: 'a-2', parts: [{ text: 'x' }] },
        },
      },
      {
        artifactUpdate: {
          taskId: 't-1',
          contextId: 'c-1',
          artifact: { artifactId: 'a-2', name: 'n', parts: [{ text: 'y' }] },
        },
      },
      statusOf('COMPLETED'),
    ];
    for (const item of events) expect(view.apply(event(item))).toBe(true);
    expect(view.task).toEqual(
      task('COMPLETED', {
        artifacts: [
          { artifactId: 'a-1', parts: [{ text: 'one' }, { text: 'two' }] },
          { artifactId: 'a-2', name: 'n', parts: [{ text: 'y' }] },
        ],
      }),
    );
  });

  it('takes what a chunk says about its artifact, and a chunk without a beginning for one', () => {
    const view = new TaskView(task('WORKING'));
    view.apply(event(chunk('one')));
    view.apply(
      event({
        artifactUpdate: {
          taskId: 't-1',
          contextId: 'c-1',
          append: true,
          artifact: { artifactId: 'a-1', name: 'poem', parts: [{ text: 'two' }] },
        },
      }),
    );
    expect(view.task?.artifacts).toEqual([
      { artifactId: 'a-1', name: 'poem', parts: [{ text: 'one' }, { text: 'two' }] },
    ]);
  });

  it('takes a later task event as a full replacement [R-STR-08]', () => {
    const view = new TaskView(
      task('WORKING', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'old' }] }] }),
    );
    view.apply(event({ task: taskIn('COMPLETED') }));
    expect(view.task).toEqual(task('COMPLETED'));
  });

  it('does not change the events that it is given', () => {
    const first = {
      task: taskIn('WORKING', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'one' }] }], history: [] }),
    };
    const second = {
      artifactUpdate: {
        taskId: 't-1',
        contextId: 'c-1',
        artifact: { artifactId: 'a-9', parts: [{ text: 'p' }] },
      },
    };
    const before = structuredClone([first, second]);
    const view = new TaskView();
    for (const item of [
      first,
      second,
      chunk('two'),
      statusOf('WORKING', { message: said('m-1', 'hm') }),
      statusOf('COMPLETED'),
    ]) {
      view.apply(event(item));
    }
    view.apply(
      event({
        artifactUpdate: {
          taskId: 't-1',
          contextId: 'c-1',
          append: true,
          artifact: { artifactId: 'a-9', parts: [{ text: 'q' }] },
        },
      }),
    );
    expect([first, second]).toEqual(before);
    expect(view.task?.artifacts?.map((artifact) => textOf(artifact))).toEqual(['onetwo', 'pq']);
  });

  it('keeps the previous message of the agent, once', () => {
    const view = new TaskView(task('SUBMITTED', { history: [said('u-1', 'hello', 'ROLE_USER')] }));
    view.apply(event(statusOf('WORKING', { message: said('m-1', 'looking') })));
    view.apply(event(statusOf('WORKING', { message: said('m-2', 'still looking') })));
    view.apply(event(statusOf('INPUT_REQUIRED', { message: said('m-2', 'still looking') })));
    view.apply(event(statusOf('COMPLETED')));
    expect(view.task?.history?.map(({ messageId }) => messageId)).toEqual(['u-1', 'm-1', 'm-2']);
  });

  it('ignores events of other tasks, and of kinds that it does not know', () => {
    const view = new TaskView(task('WORKING'));
    const other = {
      statusUpdate: { taskId: 't-2', contextId: 'c-1', status: { state: 'TASK_STATE_FAILED' } },
    };
    expect(view.apply(event(other))).toBe(false);
    expect(view.apply(event({ weather: 'fine' }))).toBe(false);
    expect(view.task).toEqual(task('WORKING'));
  });

  it('makes do with updates of a task that it was never shown', () => {
    const view = new TaskView();
    view.apply(event(chunk('one', false)));
    expect(view.task).toMatchObject({ id: 't-1', status: { state: 'TASK_STATE_UNSPECIFIED' } });
  });

  it('leaves the task before as it is when asked for the one after', () => {
    const before = task('WORKING', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'one' }] }] });
    const kept = structuredClone(before);
    const after = applyEvent(before, event(chunk('two')));
    expect(before).toEqual(kept);
    expect(textOf(after?.artifacts?.[0])).toBe('onetwo');
    expect(applyEvent(undefined, event({ message: said('m-1', 'hi') }))).toBeUndefined();
  });
});

describe('conversation', () => {
  const user = said('u-1', '10 USD', 'ROLE_USER');
  const question = said('a-1', 'To which currency?');

  it('is the history with the message of the status, whether or not the server puts it there [R-HIST-05]', () => {
    const moved = task('INPUT_REQUIRED', { history: [user] });
    const doubled = task('INPUT_REQUIRED', { history: [user, question] });
    moved.status.message = question;
    doubled.status.message = question;
    expect(conversation(moved)).toEqual([user, question]);
    expect(conversation(doubled)).toEqual([user, question]);
    expect([statusMessageIsLast(moved), statusMessageIsLast(doubled)]).toEqual([false, true]);
  });

  it('compares messages without an id by their content [R-HIST-05]', () => {
    const nameless = { role: 'ROLE_AGENT', parts: [{ text: 'To which currency?' }] } as unknown as Message;
    const doubled = task('INPUT_REQUIRED', { history: [user, nameless] });
    doubled.status.message = structuredClone(nameless);
    expect(conversation(doubled)).toHaveLength(2);
    expect(statusMessageIsLast(doubled)).toBe(true);
    const repeated = task('INPUT_REQUIRED', { history: [nameless, user] });
    repeated.status.message = structuredClone(nameless);
    expect(conversation(repeated)).toHaveLength(3);
  });

  it('is found wherever the message stands, because servers may add more [R-HIST-01]', () => {
    const followed = task('WORKING', { history: [question, user] });
    followed.status.message = question;
    expect(conversation(followed)).toEqual([question, user]);
    expect(statusMessageIsLast(followed)).toBe(false);
  });

  it('is empty without messages, and the history itself if the status has no message [R-HIST-08]', () => {
    expect(conversation(task('WORKING'))).toEqual([]);
    expect(conversation(task('WORKING', { history: [user] }))).toEqual([user]);
    expect(statusMessageIsLast(task('WORKING', { history: [user] }))).toBe(false);
    expect(statusMessageIsLast(task('WORKING'))).toBe(false);
  });
});

describe('answer', () => {
  const asked = (parts: unknown[]) =>
    task('INPUT_REQUIRED', {
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { ...said('m', ''), parts } },
    });

  it('sends values as data and text as text, to the task that asked', () => {
    const waiting = asked([{ text: 'How much?' }]);
    expect(answer(waiting, { amount: 1 })).toEqual({
      taskId: 't-1',
      contextId: 'c-1',
      parts: [{ data: { amount: 1 } }],
    });
    expect(answer(waiting, '100 USD').parts).toEqual([{ text: '100 USD' }]);
  });

  it('sends the values of a form as the values of that form', () => {
    const mediaType = 'application/vnd.example.form+json';
    const waiting = asked([{ text: 'How much?' }, { data: { formId: 'f-1', schema: {} }, mediaType }]);
    expect(answer(waiting, { amount: 1 }).parts).toEqual([
      { data: { formId: 'f-1', values: { amount: 1 } }, mediaType },
    ]);
    expect(answer(waiting, '1 USD').parts).toEqual([{ text: '1 USD' }]);
  });
});

describe('reading parts', () => {
  it('joins text, and finds data, null included', () => {
    const parts = [{ text: 'a' }, { data: null }, { text: 'b' }, { data: 1 }];
    expect(textOf({ parts })).toBe('ab');
    expect(dataOf({ parts })).toBeNull();
    expect([textOf(undefined), dataOf(undefined)]).toEqual(['', undefined]);
  });
});

describe('states', () => {
  it.each([
    ['SUBMITTED', false, false],
    ['WORKING', false, false],
    ['INPUT_REQUIRED', false, true],
    ['AUTH_REQUIRED', false, true],
    ['COMPLETED', true, false],
    ['FAILED', true, false],
    ['CANCELED', true, false],
    ['REJECTED', true, false],
    ['UNSPECIFIED', false, false],
  ])('%s: terminal %s, interrupted %s', (state, terminal, interrupted) => {
    expect([isTerminal(task(state)), isInterrupted(task(state))]).toEqual([terminal, interrupted]);
  });
});
