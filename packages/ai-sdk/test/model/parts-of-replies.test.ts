import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { AgentEvent } from '@batonjs/client';
import type { Message, Part, Task, TaskState } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { ReplyParts } from '../../src/model/reply-parts.ts';

const of = { taskId: 't', contextId: 'c' };
const message = (messageId: string, ...parts: Part[]): Message => ({ messageId, role: 'ROLE_AGENT', parts });
const status = (state: TaskState, said?: Message) => ({ state, ...(said && { message: said }) });
const update = (artifactId: string, parts: Part[], append?: boolean): AgentEvent => ({
  artifactUpdate: { ...of, artifact: { artifactId, parts }, ...(append !== undefined && { append }) },
});
const task = (state: TaskState, more: object = {}, said?: Message) =>
  ({ id: 't', contextId: 'c', status: status(state, said), ...more }) as Task;

/** One line for each part: its kind, its block, and what it has. */
const linesOf = (parts: Iterable<LanguageModelV4StreamPart>) =>
  [...parts].map((part) => {
    const { type, id, delta, data, url, title, mediaType, sourceType } = part as unknown as Record<
      string,
      never
    >;
    const content = delta ?? (data ? atob((data as { data: string }).data) : url);
    return [type, id, content, title, mediaType, sourceType].filter((each) => each !== undefined).join(' ');
  });

const given = (events: readonly AgentEvent[], isJson = false) => {
  const parts = new ReplyParts(isJson);
  return linesOf(events.flatMap((event) => [...parts.event(event)]));
};

/** What ends a stream after these events. */
const ending = (end: Task | undefined, events: readonly AgentEvent[] = [], isJson = false) => {
  const parts = new ReplyParts(isJson);
  for (const event of events) [...parts.event(event)];
  return linesOf(parts.end(end, { a2a: {} }));
};

describe('the parts of a reply', () => {
  it('are a block for each artifact, with its texts and data as they come', () => {
    expect(
      given([
        update('a', [{ text: 'One' }], false),
        update('a', [{ text: ' two' }, { data: { n: 1 } }], true),
        update('b', [{ text: 'Other' }]),
        update('b', [{ text: '' }], true),
        update('a', [{ text: '!' }], true),
      ]),
    ).toEqual([
      'text-start 1',
      'text-delta 1 One',
      'text-delta 1  two{"n":1}',
      'text-end 1',
      'text-start 2',
      'text-delta 2 \n\nOther',
      'text-end 2',
      'text-start 3',
      'text-delta 3 \n\n!',
    ]);
  });

  it('have what is new of a text that is repeated, and another text in a block of its own', () => {
    expect(
      given([
        update('a', [{ text: 'One' }]),
        update('a', [{ text: ' two' }], true),
        {
          task: task('TASK_STATE_WORKING', {
            artifacts: [{ artifactId: 'a', parts: [{ text: 'One two three' }] }],
          }),
        },
        update('a', [{ text: 'Again' }], false),
        update('a', [{ text: 'Again and more' }], false),
      ]),
    ).toEqual([
      'text-start 1',
      'text-delta 1 One',
      'text-delta 1  two',
      'text-delta 1  three',
      'text-end 1',
      'text-start 2',
      'text-delta 2 \n\nAgain',
      'text-delta 2  and more',
    ]);
  });

  it('have only data as text where JSON is wanted', () => {
    const parts = [{ text: 'Here: ' }, { data: { a: 1 } }];
    expect(given([update('a', parts)], true)).toEqual(['text-start 1', 'text-delta 1 {"a":1}']);
    expect(given([update('a', parts)])).toEqual(['text-start 1', 'text-delta 1 Here: {"a":1}']);
  });

  it('have files and links once, and another one in the same place', () => {
    const [one, two] = [{ raw: btoa('one'), mediaType: 'a/b' }, { raw: btoa('two') }];
    const far = { url: 'https://a.example', filename: 'far' };
    expect(
      given([
        update('a', [one, far]),
        update('a', [one, { url: 'https://a.example' }], false),
        update('a', [two], true),
        update('a', [two, one, two], false),
      ]),
    ).toEqual([
      'file one a/b',
      'source a 1 https://a.example far url',
      'file two application/octet-stream',
      'file two application/octet-stream',
      'file one a/b',
    ]);
    expect(given([update('a', [{ url: 'https://a.example' }])])).toEqual([
      'source a 0 https://a.example url',
    ]);
  });

  it('have what a working agent says as reasoning, once', () => {
    const say = (id: string, text: string, state: TaskState = 'TASK_STATE_WORKING'): AgentEvent => ({
      statusUpdate: { ...of, status: status(state, message(id, { text })) },
    });
    expect(
      given([
        say('m', 'Thinking'),
        say('m', 'Thinking'),
        { task: task('TASK_STATE_WORKING', {}, message('m', { text: 'Thinking' })) },
        say('n', ''),
        say('o', 'Waiting', 'TASK_STATE_SUBMITTED'),
        update('a', [{ text: 'x' }]),
        say('p', 'Again'),
        { statusUpdate: { ...of, status: status('TASK_STATE_WORKING') } },
      ]),
    ).toEqual([
      'reasoning-start 1',
      'reasoning-delta 1 Thinking',
      'reasoning-end 1',
      'text-start 2',
      'text-delta 2 x',
      'text-end 2',
      'reasoning-start 3',
      'reasoning-delta 3 Again',
      'reasoning-end 3',
    ]);
  });

  it('have the words of a message', () => {
    expect(given([{ message: message('m', { text: 'Hello' }, { data: 1 }) }])).toEqual([
      'text-start 1',
      'text-delta 1 Hello1',
    ]);
  });

  it.each<[string, Task | undefined, AgentEvent[], boolean, string[]]>([
    [
      'of an answer, only metadata',
      undefined,
      [update('a', [{ text: 'x' }])],
      false,
      ['text-end 1', 'text-start 2', 'text-end 2'],
    ],
    [
      'of a task without artifacts, its last words',
      task('TASK_STATE_COMPLETED', {}, message('m', { text: 'Done' }, { data: 1 })),
      [],
      false,
      ['text-start 1', 'text-delta 1 Done1', 'text-end 1', 'text-start 2', 'text-end 2'],
    ],
    [
      'of a task with artifacts, its last words below them',
      task('TASK_STATE_COMPLETED', {}, message('m', { text: 'Done' })),
      [update('a', [{ text: 'x' }])],
      false,
      ['text-end 1', 'text-start 2', 'text-delta 2 \n\nDone', 'text-end 2', 'text-start 3', 'text-end 3'],
    ],
    [
      'of data where JSON is wanted, no words',
      task('TASK_STATE_COMPLETED', {}, message('m', { text: 'Done' }, { data: 1 })),
      [update('a', [{ data: 2 }])],
      true,
      ['text-end 1', 'text-start 2', 'text-end 2'],
    ],
    [
      'of a question, its words, also after artifacts',
      task('TASK_STATE_INPUT_REQUIRED', {}, message('m', { text: 'Which?' }, { data: 1 })),
      [update('a', [{ text: 'x' }])],
      false,
      ['text-end 1', 'text-start 2', 'text-delta 2 \n\nWhich?', 'text-end 2', 'text-start 3', 'text-end 3'],
    ],
    [
      'of a question without words, its data',
      task('TASK_STATE_AUTH_REQUIRED', {}, message('m', { data: 1 })),
      [],
      false,
      ['text-start 1', 'text-delta 1 1', 'text-end 1', 'text-start 2', 'text-end 2'],
    ],
    [
      'of a question where JSON is wanted, its words all the same',
      task('TASK_STATE_INPUT_REQUIRED', {}, message('m', { text: 'Which?' })),
      [],
      true,
      ['text-start 1', 'text-delta 1 Which?', 'text-end 1', 'text-start 2', 'text-end 2'],
    ],
    [
      'of a task that says nothing, nothing',
      task('TASK_STATE_COMPLETED'),
      [],
      false,
      ['text-start 1', 'text-end 1'],
    ],
  ])('end: %s', (_what, end, events, isJson, lines) => {
    expect(ending(end, events, isJson)).toEqual(lines);
  });
});
