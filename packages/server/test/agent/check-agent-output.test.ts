import { describe, expect, it } from 'vitest';
import { checkAnswer, checkEnd, checkMessage, checkUpdate } from '../../src/agent/check-agent-output.ts';
import { artifact, completed, data, file, link, reply, text, working } from '../../src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: agents in JavaScript may answer with anything
const as = (garbage: unknown) => garbage as any;
const partsOf = (...parts: unknown[]) => as({ artifact: { artifactId: 'a', parts } });
const child = (more: object) => as({ child: { name: 'n', agent: 'http://a.example', ...more } });

/** What is said of it; undefined if it may be sent. */
function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
    return (error as Error).message.replace('The agent broke a rule: ', '');
  }
}

describe('an update', () => {
  it.each([
    ['a status', working()],
    ['a status with a message and metadata', completed('Done', { a: 1 })],
    ['an artifact of each kind of part', artifact('a', text('a'), data(null), file(Buffer.of(1)), link('u'))],
    ['a child alone', child({})],
    ['a child with its task', child({ taskId: 't', state: 's' })],
    ['a child beside a status', { ...working(), ...child({}) }],
    ['memory beside a status', { ...working(), memory: { a: 1, b: undefined, c: null } }],
    ['memory beside a child', { ...child({}), memory: {} }],
    ['a chunk', { ...artifact('a', 'b'), append: true, lastChunk: false }],
    ['a part with a name and a type', partsOf({ text: 'a', filename: 'f', mediaType: 'm', metadata: {} })],
  ])('may be %s', (_, update) => {
    expect(problemOf(() => checkUpdate(update))).toBeUndefined();
  });

  const both = { ...working(), ...artifact('a', 'b') };
  const one = 'an update has a status or an artifact, such as working(), artifact(…) and completed()';
  // biome-ignore format: a table reads best with one row per line
  it.each<[update: unknown, problem: string]>([
    [undefined, `The agent yielded undefined; ${one}`],
    [null, `The agent yielded null; ${one}`],
    [5, `The agent yielded a number; ${one}`],
    [[], `The agent yielded an array; ${one}`],
    [() => {}, `The agent yielded a function; ${one}`],
    [new Set(), `The agent yielded a synchronous generator or another iterable (is \`async\` missing?); ${one}`],
    [{ [Symbol.asyncIterator]: 1 }, `The agent yielded an async iterable (is \`yield*\` missing?); ${one}`],
    [both, `The agent yielded an object with both; ${one}`],
    [{ ...both, ...child({}) }, `The agent yielded an object with both; ${one}`],
    [reply('a'), `The agent yielded a message; ${one}`],
    [{ parts: [], artifactId: 'a' }, `The agent yielded an artifact; ${one}`],
    [{ text: 'a' }, `The agent yielded a part; ${one}`],
    [{ data: 'a' }, `The agent yielded a part; ${one}`],
    [{ url: 'a' }, `The agent yielded a part; ${one}`],
    [{ raw: 'a' }, `The agent yielded a part; ${one}`],
    [{}, `The agent yielded an object of another kind; ${one}`],
    [{ status: 5 }, 'A status is an object'],
    [{ status: null }, 'A status is an object'],
    [{ status: [] }, 'A status is an object'],
    [{ ...working(), metadata: 5 }, '`metadata` is a object'],
    [{ ...working(), metadata: null }, '`metadata` is a object'],
    [{ status: { message: 5 } }, 'A message is an object'],
    [{ status: { message: { parts: [], metadata: 'm' } } }, '`metadata` is a object'],
    [{ status: { message: { parts: 5 } } }, '`parts` is an array'],
    [{ artifact: 5 }, 'An artifact is an object'],
    [{ ...artifact('a', 'b'), append: 'yes' }, '`append` is a boolean'],
    [{ ...artifact('a', 'b'), lastChunk: 'yes' }, '`lastChunk` is a boolean'],
    [{ artifact: { name: 5, parts: [] } }, '`name` is a string'],
    [{ artifact: { description: 5, parts: [] } }, '`description` is a string'],
    [{ artifact: { metadata: 5, parts: [] } }, '`metadata` is a object'],
    [{ artifact: {} }, '`parts` is an array'],
    [partsOf(5), 'A part is an object'],
    [partsOf({}), 'A part has one of `text`, `raw`, `url` and `data`'],
    [partsOf({ text: 'a', raw: 'a' }), 'A part has one of `text`, `raw`, `url` and `data`'],
    [partsOf({ text: 'a', url: 'a' }), 'A part has one of `text`, `raw`, `url` and `data`'],
    [partsOf({ text: 'a', data: 'a' }), 'A part has one of `text`, `raw`, `url` and `data`'],
    [partsOf({ data: () => {} }), 'A part has one of `text`, `raw`, `url` and `data`'],
    [partsOf({ data: Symbol('a') }), 'A part has one of `text`, `raw`, `url` and `data`'],
    [partsOf({ text: 'a' }, { text: 5 }), '`text` is a string'],
    [partsOf({ raw: 5 }), '`raw` is a string'],
    [partsOf({ url: 5 }), '`url` is a string'],
    [partsOf({ text: 'a', filename: 5 }), '`filename` is a string'],
    [partsOf({ text: 'a', mediaType: 5 }), '`mediaType` is a string'],
    [partsOf({ text: 'a', metadata: 5 }), '`metadata` is a object'],
    [{ child: 5 }, 'A child is an object'],
    [child({ name: '' }), '`name` of a child is a text'],
    [child({ name: 5 }), '`name` of a child is a text'],
    [child({ agent: undefined }), '`agent` of a child is a text'],
    [child({ taskId: 5 }), '`taskId` is a string'],
    [child({ state: 5 }), '`state` is a string'],
    [{ ...working(), memory: 5 }, '`memory` of an update is an object'],
    [{ ...working(), memory: [1] }, '`memory` of an update is an object'],
    [{ ...working(), memory: { a: 1, b: () => {} } }, 'What the agent remembers is not JSON'],
    [{ ...child({}), memory: { a: Symbol('a') } }, 'What the agent remembers is not JSON'],
    [{ memory: { a: 1 } }, `The agent yielded an object of another kind; ${one}`],
  ])('cannot be %j: %s', (update, problem) => {
    expect(problemOf(() => checkUpdate(as(update)))).toBe(problem);
  });
});

describe('an answer', () => {
  it('is a message, and is named by its kind if it is none', () => {
    expect(problemOf(() => checkAnswer(reply('a')))).toBeUndefined();
    const how = "it returns a message, such as reply('Hello'), or is an async function* that yields updates";
    expect(problemOf(() => checkAnswer(working()))).toBe(`The agent returned a single update; ${how}`);
    expect(problemOf(() => checkAnswer(artifact('a', 'b')))).toBe(
      `The agent returned a single update; ${how}`,
    );
    expect(problemOf(() => checkAnswer({ status: {}, id: 't' }))).toBe(`The agent returned a task; ${how}`);
    expect(problemOf(() => checkAnswer({ parts: [{}] }))).toMatch(/^A part has one of/);
    expect(problemOf(() => checkMessage(null))).toBe('A message is an object');
  });

  it('of updates ends with the task, at a question, or with a time for the next turn', () => {
    const task = (state: string) => as({ id: 't', status: { state } });
    const problem = 'The agent ended without saying how the task ended, such as by `yield completed()`';
    const end = (...given: Parameters<typeof checkEnd>) => problemOf(() => checkEnd(...given));
    expect(end({ task: task('TASK_STATE_INPUT_REQUIRED') })).toBeUndefined();
    expect(end({ task: task('TASK_STATE_WORKING'), wakeAt: 'soon' })).toBeUndefined();
    expect(end({ task: task('TASK_STATE_WORKING') })).toBe(problem);
    expect(end({ task: undefined, wakeAt: 'soon' })).toBe(problem);
  });
});
