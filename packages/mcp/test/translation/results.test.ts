import type { Artifact, Message, Part, Task, TaskState } from '@batonjs/protocol';
import { failed } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { contentOf, contentOfArtifacts, resultOf, textResult } from '../../src/translation/results.ts';

const uri = 'a2a:x';

describe('the content of a part', () => {
  it.each<[string, Part, object]>([
    ['a text', { text: 'words', mediaType: 'text/plain' }, { type: 'text', text: 'words' }],
    ['an empty text', { text: '' }, { type: 'text', text: '' }],
    [
      'an address',
      { url: 'https://a.example/b', mediaType: 'text/csv', filename: 'b.csv' },
      { type: 'resource_link', uri: 'https://a.example/b', name: 'b.csv', mimeType: 'text/csv' },
    ],
    [
      'an address without a name and a type',
      { url: 'https://a.example/b' },
      { type: 'resource_link', uri: 'https://a.example/b', name: 'https://a.example/b' },
    ],
    [
      'an image',
      { raw: 'AA==', mediaType: 'image/png' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ],
    [
      'a sound',
      { raw: 'AA==', mediaType: 'audio/wav' },
      { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
    ],
    [
      'another file',
      { raw: 'AA==', mediaType: 'x-image/png' },
      { type: 'resource', resource: { uri, blob: 'AA==', mimeType: 'x-image/png' } },
    ],
    ['bytes without a type', { raw: 'AA==' }, { type: 'resource', resource: { uri, blob: 'AA==' } }],
    ['data', { data: { a: [1] } }, { type: 'text', text: '{"a":[1]}' }],
    ['a part of a kind that is unknown', {} as Part, { type: 'text', text: 'null' }],
    [
      'a part whose other members are undefined',
      { text: undefined, url: undefined, raw: undefined, data: 1 } as unknown as Part,
      { type: 'text', text: '1' },
    ],
  ])('that is %s', (_what, part, content) => {
    expect(contentOf(part, uri)).toStrictEqual(content);
  });
});

describe('the chunks of an artifact', () => {
  const texts = (...parts: Part[]) =>
    contentOfArtifacts('t', [{ artifactId: 'a', parts }]).map((each) =>
      each.type === 'text' ? each.text : each.type,
    );

  it('are one text as long as they are of one kind and file', () => {
    expect(texts({ text: 'a' }, { text: 'b' }, { text: 'c' })).toEqual(['abc']);
    expect(texts({ text: 'a' }, { text: 'b', mediaType: 'text/csv' })).toEqual(['a', 'b']);
    expect(texts({ text: 'a', filename: 'x' }, { text: 'b', filename: 'y' })).toEqual(['a', 'b']);
    expect(texts({ text: 'a' }, { data: 1 }, { text: 'b' })).toEqual(['a', '1', 'b']);
    expect(texts({ data: 1 }, { text: 'b' })).toEqual(['1', 'b']);
    expect(texts({ text: 'a' }, { raw: 'AA==', mediaType: 'image/png' })).toEqual(['a', 'image']);
  });

  it('have an address of their own where they are embedded', () => {
    const parts: Part[] = [{ raw: 'AA==' }, { raw: 'AQ==' }];
    const addresses = contentOfArtifacts('t/1', [
      { artifactId: 'a b', parts },
      { artifactId: 'c', parts },
    ]).map((each) => (each.type === 'resource' ? each.resource.uri : each.type));
    expect(addresses).toEqual(['a2a:t%2F1/a%20b/0', 'a2a:t%2F1/a%20b/1', 'a2a:t%2F1/c/0', 'a2a:t%2F1/c/1']);
  });
});

const said = (text: string): Message => ({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] });

/** A task in a state, with a message and artifacts. */
const task = (state: TaskState, message?: Message, artifacts?: Artifact[]): Task => ({
  id: 't/1',
  contextId: 'c',
  status: { state, ...(message && { message }) },
  ...(artifacts && { artifacts }),
});

describe('the result of a task', () => {
  const form = {
    ...said('Which?'),
    parts: [
      { text: 'Which?' },
      { data: { formId: 'f', schema: { type: 'object' } }, mediaType: 'application/vnd.batonjs.form+json' },
    ],
  };
  const failure = (failed({ code: 'EMPTY', message: 'Nothing left' }) as { status: { message: Message } })
    .status.message;
  const goOn = 'call the tool continue_task with the taskId "t/1"';

  it.each<[string, Task, string, boolean]>([
    [
      'runs',
      task('TASK_STATE_WORKING', said('Thinking')),
      `The task is still running. To wait for its result, ${goOn}.\n\nIt says: Thinking`,
      false,
    ],
    [
      'asks',
      task('TASK_STATE_INPUT_REQUIRED', said('Which?')),
      `Which?\n\nThe agent waits for an answer: ${goOn} and the user's "answer".`,
      false,
    ],
    [
      'asks without words',
      task('TASK_STATE_INPUT_REQUIRED'),
      `The agent waits for an answer.\n\nThe agent waits for an answer: ${goOn} and the user's "answer".`,
      false,
    ],
    [
      'asks with a form',
      task('TASK_STATE_INPUT_REQUIRED', form),
      `Which?\n\nThe agent waits for an answer: ${goOn} and "values" that fit this JSON Schema: {"type":"object"}.`,
      false,
    ],
    [
      'needs an authorization',
      task('TASK_STATE_AUTH_REQUIRED', said('Sign in')),
      `The agent needs an authorization before it can go on: Sign in\n\nOnce it is given, ${goOn}.`,
      true,
    ],
    [
      'needs an authorization without words',
      task('TASK_STATE_AUTH_REQUIRED'),
      `The agent needs an authorization before it can go on\n\nOnce it is given, ${goOn}.`,
      true,
    ],
    ['failed', task('TASK_STATE_FAILED'), 'The task failed', true],
    ['failed with words', task('TASK_STATE_FAILED', said('No')), 'The task failed: No', true],
    ['failed with a code', task('TASK_STATE_FAILED', failure), 'The task failed (EMPTY): Nothing left', true],
    ['was rejected', task('TASK_STATE_REJECTED', said('No')), 'The agent rejected the task: No', true],
    ['was canceled', task('TASK_STATE_CANCELED'), 'The task was canceled', true],
    ['was canceled with words', task('TASK_STATE_CANCELED', said('Why')), 'The task was canceled: Why', true],
  ])('that %s', (_what, given, text, isError) => {
    expect(resultOf({ task: given })).toStrictEqual({
      content: [{ type: 'text', text }],
      ...(isError && { isError }),
      _meta: { 'batonjs.dev/task': { id: 't/1', contextId: 'c', state: given.status.state } },
    });
  });

  it('that has no context', () => {
    const { contextId: _, ...given } = task('TASK_STATE_COMPLETED');
    expect(resultOf({ task: given as Task })).toStrictEqual({
      content: [],
      _meta: { 'batonjs.dev/task': { id: 't/1', state: 'TASK_STATE_COMPLETED' } },
    });
  });

  it('that is complete: its words, then its artifacts, with the data of the artifact `result` as output', () => {
    const message = { ...said('Done'), parts: [{ text: 'Done' }, { raw: 'AA==' }] };
    const artifacts = [
      { artifactId: 'a', name: 'other', parts: [{ data: { no: 1 } }] },
      { artifactId: 'b', name: 'result', parts: [{ text: 'See' }, { data: { yes: 1 } }] },
    ];
    expect(resultOf({ task: task('TASK_STATE_COMPLETED', message, artifacts) })).toMatchObject({
      content: [
        { type: 'text', text: 'Done' },
        { type: 'resource', resource: { uri: 'a2a:t%2F1/status/1', blob: 'AA==' } },
        { type: 'text', text: '{"no":1}' },
        { type: 'text', text: 'See' },
        { type: 'text', text: '{"yes":1}' },
      ],
      structuredContent: { yes: 1 },
    });
  });

  it.each<[string, Artifact[]]>([
    ['no artifact `result`', [{ artifactId: 'a', name: 'other', parts: [{ data: {} }] }]],
    ['an artifact `result` without data', [{ artifactId: 'a', name: 'result', parts: [{ text: 'x' }] }]],
    ['a list', [{ artifactId: 'a', name: 'result', parts: [{ data: [1] }] }]],
    ['null', [{ artifactId: 'a', name: 'result', parts: [{ data: null }] }]],
    ['a text', [{ artifactId: 'a', name: 'result', parts: [{ data: 'x' }] }]],
  ])('that is complete has no output where it has %s', (_what, artifacts) => {
    expect(resultOf({ task: task('TASK_STATE_COMPLETED', undefined, artifacts) })).not.toHaveProperty(
      'structuredContent',
    );
  });
});

it('the result of a message has its parts, each with an address', () => {
  const message = { ...said(''), messageId: 'm/1', parts: [{ text: 'Hello' }, { raw: 'AA==' }] };
  expect(resultOf({ message })).toStrictEqual({
    content: [
      { type: 'text', text: 'Hello' },
      { type: 'resource', resource: { uri: 'a2a:m%2F1/1', blob: 'AA==' } },
    ],
  });
});

it('a result of text is no error unless it is said', () => {
  expect(textResult('x')).toStrictEqual({ content: [{ type: 'text', text: 'x' }] });
});
