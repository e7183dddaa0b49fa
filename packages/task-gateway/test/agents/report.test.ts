import { TASK_PROGRESS } from '@batonjs/extensions/client';
import type { Message, Part, Task, TaskState } from '@batonjs/protocol';
import type { TaskUpdate, Turn } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { reportTo } from '../../src/dispatch/report.ts';
import { type Note, noteIn, noteMessage } from '../../src/tasks/gateway-task.ts';

/** A report, and what it wrote: state, text and note of each status. */
function reporting({
  from = 'SUBMITTED',
  signal = new AbortController().signal,
  messages = [] as readonly Message[],
} = {}) {
  const written: [state: string, text: string | undefined, note: object, more: object][] = [];
  const emit = async (update: TaskUpdate) => {
    const { status, ...more } = update as TaskUpdate & { status: Task['status'] };
    const [part] = status.message!.parts;
    const text = part && 'text' in part ? part.text : undefined;
    written.push([status.state.replace('TASK_STATE_', ''), text, noteIn(status.message), more]);
  };
  const turn = { signal, messages, task: { status: { state: `TASK_STATE_${from}` } } } as unknown as Turn;
  return { report: reportTo(emit as never, turn), written };
}

interface At {
  readonly text?: string;
  readonly parts?: Part[];
  readonly id?: string;
  readonly progress?: readonly [number, number];
  readonly artifacts?: Task['artifacts'];
  readonly timestamp?: string;
}

/** A task at the agent. */
const at = (
  state: string,
  { text, parts, id = 'm', progress, artifacts, timestamp = 'now' }: At = {},
): Task => {
  const metadata = progress && {
    [TASK_PROGRESS]: { aggregate: { progress: progress[0], total: progress[1] } },
  };
  const message: Message | undefined =
    text === undefined && !parts && !progress
      ? undefined
      : {
          messageId: id,
          role: 'ROLE_AGENT',
          parts: parts ?? [{ text: text ?? '' }],
          ...(metadata && { metadata }),
        };
  const status = { state: `TASK_STATE_${state}` as TaskState, timestamp, ...(message && { message }) };
  return { id: 'there', contextId: 'c', status, ...(artifacts && { artifacts }) } as Task;
};

const here = { agentTaskId: 'there' };

describe('an agent that works', () => {
  it('is reported once for each text and percentage', async () => {
    const { report, written } = reporting();
    await report.running(at('SUBMITTED', { text: 'Soon' }));
    await report.running(at('COMPLETED', { text: 'Done' }));
    expect(written).toEqual([]);
    for (const task of [
      at('WORKING'),
      at('WORKING', { text: 'Half', id: 'a' }),
      at('WORKING', { text: 'Half', id: 'b', timestamp: 'later' }),
      at('WORKING', { text: 'Half', progress: [1, 3] }),
      at('WORKING', { text: 'Half', progress: [2, 6] }),
      at('WORKING', { text: 'Half', progress: [0, 0] }),
      at('WORKING', { progress: [2, 2] }),
    ])
      await report.running(task);
    expect(written).toEqual([
      ['WORKING', undefined, here, {}],
      ['WORKING', 'Half', here, {}],
      ['WORKING', 'Half', { ...here, progress: 33 }, {}],
      ['WORKING', 'Half', here, {}],
      ['WORKING', undefined, { ...here, progress: 100 }, {}],
    ]);
  });

  it('that asks is reported once for each question, after the task was accepted', async () => {
    const { report, written } = reporting();
    const question = (text: string, more: At = {}) => at('INPUT_REQUIRED', { text, ...more });
    for (const task of [
      question('How much?'),
      question('How much?'),
      question('How much?', { timestamp: 'later' }),
      question('How much?', { timestamp: 'later', id: 'n' }),
      at('AUTH_REQUIRED', { text: 'How much?', timestamp: 'later', id: 'n' }),
      at('AUTH_REQUIRED'),
      at('AUTH_REQUIRED'),
    ])
      await report.running(task);
    const form = (formId: string, title: string) => ({
      ...here,
      form: expect.objectContaining({ formId, title }),
      question: { id: expect.any(String), status: expect.any(String) },
    });
    expect(written).toEqual([
      ['WORKING', undefined, here, {}],
      ['AUTH_REQUIRED', 'How much?', form('m', 'How much?'), {}],
      ['AUTH_REQUIRED', 'How much?', form('m', 'How much?'), {}],
      ['AUTH_REQUIRED', 'How much?', form('n', 'How much?'), {}],
      ['AUTH_REQUIRED', 'How much?', form('n', 'How much?'), {}],
      ['AUTH_REQUIRED', undefined, form('there', 'The agent asks'), {}],
    ]);
  });
});

describe('a question that a turn before has written', () => {
  const question = { text: 'How much?' };
  const unnamed = { timestamp: '' };

  /** The names of the questions that this turn writes, after one that wrote `first`. */
  async function named(first: Task, ...tasks: readonly Task[]) {
    const before = reporting();
    await before.report.running(first);
    const { question: known } = before.written.at(-1)![2] as Note;
    const messages = [noteMessage('', { question: known }), noteMessage('', {})];
    const { report, written } = reporting({ from: 'WORKING', messages });
    for (const task of tasks) await report.running(task);
    const names = written.flatMap(([, , note]) => (note as Note).question?.id ?? []);
    expect(new Set(names).size).toBe(names.length);
    return names.map((name) => name === known?.id);
  }

  it.each<[what: string, first: Task, then: Task[], isKnown: boolean[]]>([
    ['keeps its name', at('INPUT_REQUIRED', question), [at('INPUT_REQUIRED', question)], [true]],
    ['keeps its name without words', at('AUTH_REQUIRED'), [at('AUTH_REQUIRED')], [true]],
    [
      'keeps its name without a time',
      at('INPUT_REQUIRED', { ...question, ...unnamed }),
      [at('INPUT_REQUIRED', { ...question, ...unnamed })],
      [true],
    ],
    [
      'and another one of the agent have two names',
      at('INPUT_REQUIRED', question),
      [at('INPUT_REQUIRED', { ...question, id: 'n' })],
      [false],
    ],
    [
      'and the same words after an answer have two names',
      at('INPUT_REQUIRED', question),
      [at('INPUT_REQUIRED', question), at('WORKING'), at('INPUT_REQUIRED', question)],
      [true, false],
    ],
    [
      'gets another name if nothing tells it from others',
      at('AUTH_REQUIRED', unnamed),
      [at('AUTH_REQUIRED', unnamed)],
      [false],
    ],
  ])('%s', async (_what, first, then, isKnown) => {
    expect(await named(first, ...then)).toEqual(isKnown);
  });
});

describe('an agent that ended', () => {
  const result = [{ artifactId: 'a', parts: [{ data: { n: 1 } } as Part] }];
  const failure = (code: string, message: string): At => ({ parts: [{ data: { code, message } } as Part] });

  it.each<[string, Task, unknown, unknown[]]>([
    ['canceled', at('CANCELED', { text: 'Stopped' }), undefined, ['CANCELED', 'Stopped', here]],
    [
      'with a result',
      at('COMPLETED', { text: 'Done', artifacts: result }),
      undefined,
      ['COMPLETED', 'Done', { ...here, result: { n: 1 } }],
    ],
    [
      'with a checked output',
      at('COMPLETED', { artifacts: result }),
      { n: 2 },
      ['COMPLETED', undefined, { ...here, result: { n: 2 } }],
    ],
    [
      'with an output that is null',
      at('COMPLETED', { artifacts: result }),
      0,
      ['COMPLETED', undefined, { ...here, result: 0 }],
    ],
    [
      'failed',
      at('FAILED', { text: 'Broken' }),
      undefined,
      ['FAILED', 'Broken', { ...here, error: { code: 'AGENT_FAILED', message: 'Broken' } }],
    ],
    [
      'failed without a word',
      at('FAILED'),
      undefined,
      [
        'FAILED',
        'The agent gave no reason',
        { ...here, error: { code: 'AGENT_FAILED', message: 'The agent gave no reason' } },
      ],
    ],
    [
      'failed with a code',
      at('FAILED', failure('NO_MONEY', 'Empty')),
      undefined,
      ['FAILED', 'Empty', { ...here, error: { code: 'NO_MONEY', message: 'Empty' } }],
    ],
    [
      'rejected',
      at('REJECTED', { text: 'No' }),
      undefined,
      ['FAILED', 'No', { ...here, error: { code: 'REJECTED', message: 'No' } }],
    ],
    [
      'rejected with a code',
      at('REJECTED', failure('TOO_BIG', 'Big')),
      undefined,
      ['FAILED', 'Big', { ...here, error: { code: 'TOO_BIG', message: 'Big' } }],
    ],
  ])('%s is reported so', async (_, task, output, expected) => {
    const early = reporting();
    await early.report.ended(task, output as never);
    const [accepted, ended] = early.written.length === 2 ? early.written : [undefined, early.written[0]];
    expect(ended!.slice(0, 3)).toEqual(expected);
    // Every task is accepted before it ends, unless it is canceled.
    expect(accepted?.slice(0, 3)).toEqual(
      expected[0] === 'CANCELED' ? undefined : ['WORKING', undefined, here],
    );
    const late = reporting({ from: 'WORKING' });
    await late.report.ended(task, output as never);
    expect(late.written.map((each) => each.slice(0, 3))).toEqual([expected]);
  });

  it('is reported as completed before a cancel that came later', async () => {
    const outcome = async (signal?: AbortSignal) => {
      const { report, written } = reporting({ from: 'WORKING', ...(signal && { signal }) });
      await report.result({ n: 1 });
      return written[0]!;
    };
    const [usual, late] = [await outcome(), await outcome(AbortSignal.abort())];
    expect([usual.slice(0, 3), late.slice(0, 3)]).toEqual(
      Array.from({ length: 2 }, () => ['COMPLETED', undefined, { result: { n: 1 } }]),
    );
    expect(usual[3]).toEqual({});
    expect(late[3]).not.toEqual({});
  });

  it('at no task is reported without one', async () => {
    const { report, written } = reporting();
    await report.failed({ code: 'X', message: 'Why' });
    await report.canceled();
    expect(written.map((each) => each.slice(0, 3))).toEqual([
      ['WORKING', undefined, {}],
      ['FAILED', 'Why', { error: { code: 'X', message: 'Why' } }],
      ['CANCELED', undefined, {}],
    ]);
  });
});
