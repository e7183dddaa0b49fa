import { A2AError, type AgentClient } from '@batonjs/client';
import { FORM_INPUT } from '@batonjs/extensions/client';
import { type Agent, completed, inputRequired, reply } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { Conversation } from '../../src/server/conversation.ts';
import { closedGate, mcpClient, serveAgent, serveMcp, textOf } from '../clients.ts';
import { skillsAgent } from '../skills-agent.ts';

const skills = [{ id: 's', name: 'S', description: 'Asks', tags: [] }];
const card = { name: 'Test', description: 'Asks', skills };

/** Asks as often as its first message says, and ends with all that it was answered. */
const asking: Agent = async function* ({ messages }) {
  const said = messages.flatMap(({ role, parts }) => (role === 'ROLE_USER' ? parts : []));
  const words = said.map((part) => ('text' in part ? part.text : ''));
  if (words.length <= Number(words[0])) yield inputRequired(`Question ${words.length}`);
  else yield completed(words.join(' '));
};

interface Client {
  /** Answers of the user in a session; an error is thrown. */
  readonly answers?: readonly unknown[];
  /** Of protocol 2026-07-28. */
  readonly state?: unknown;
  readonly responses?: object;
  readonly agentWith?: (agent: AgentClient) => object;
}

/** A conversation with the agent. */
async function converse({ answers, state, responses, agentWith }: Client = {}, agent: Agent = asking) {
  const { agent: client } = await serveAgent({ card, agent });
  const [asked, errors, left]: [unknown[], unknown[], unknown[]] = [[], [], [...(answers ?? [])]];
  const leaving = new AbortController();
  const mcpReq = {
    signal: leaving.signal,
    ...(!answers && { envelope: {} }),
    requestState: () => state,
    inputResponses: responses,
    async elicitInput(question: object, options: object) {
      asked.push([question, options]);
      const next = left.shift();
      if (next === 'leave') leaving.abort(new Error('Gone'));
      if (next === 'leave' || next instanceof Error) throw next;
      return next;
    },
  };
  const members = Object.entries(agentWith?.(client) ?? {}).map(([name, value]) => [name, { value }]);
  const call = {
    agent: Object.create(client, Object.fromEntries(members)) as AgentClient,
    context: { mcpReq } as never,
    extensions: [FORM_INPUT],
    waitMs: 0,
    cancelsTask: true,
    onError: (error: unknown) => errors.push(error),
    notify: async () => {},
  };
  return { client, asked, errors, leaving, start: (asks = true) => new Conversation(call, asks) };
}

const accepted = (answer: string) => ({ action: 'accept', content: { answer } });
const stateOf = ({ reply: { task } }: { reply: { task?: { status: { state: string } } } }) =>
  task?.status.state.replace('TASK_STATE_', '');

describe('in a session, a question', () => {
  it('goes to the user, as often as the agent asks, who has an hour', async () => {
    const { start, asked, leaving } = await converse({ answers: [accepted('a'), accepted('b')] });
    const { reply: given } = await start().send('2');
    expect(given.task?.status.message?.parts).toMatchObject([{ text: '2 a b' }]);
    const question = (message: string) => [
      {
        message,
        requestedSchema: {
          type: 'object',
          properties: { answer: { type: 'string', title: 'Answer' } },
          required: ['answer'],
        },
      },
      { timeout: 3_600_000, signal: leaving.signal },
    ];
    expect(asked).toEqual([question('Question 1'), question('Question 2')]);
  });

  it('is not asked where the client shows none', async () => {
    const { start, asked } = await converse({ answers: [] });
    expect(stateOf(await start(false).send('1'))).toBe('INPUT_REQUIRED');
    expect(asked).toEqual([]);
  });

  it('waits when the user closes it', async () => {
    const { start, errors } = await converse({ answers: [{ action: 'cancel' }] });
    const outcome = await start().send('1');
    expect([stateOf(outcome), outcome.refusal, errors]).toEqual(['INPUT_REQUIRED', undefined, []]);
  });

  it('waits when it cannot be shown, which the operator sees', async () => {
    const failure = new Error('No screen');
    const { start, errors } = await converse({ answers: [failure] });
    expect([stateOf(await start().send('1')), errors]).toEqual(['INPUT_REQUIRED', [failure]]);
  });

  it('is no failure of the client where the client has left', async () => {
    const { start, errors } = await converse({ answers: ['leave'] });
    await expect(start().send('1')).rejects.toThrow('Gone');
    expect(errors).toEqual([]);
  });

  it('cancels the task when the user declines it', async () => {
    const { start } = await converse({ answers: [{ action: 'decline' }] });
    const outcome = await start().send('1');
    expect([stateOf(outcome), outcome.refusal]).toEqual([
      'CANCELED',
      'The question was declined, so the task was canceled.',
    ]);
  });

  it.each<[A2AError, string | undefined]>([
    [new A2AError('TASK_NOT_CANCELABLE', 'No'), 'The question was declined. The task cannot be canceled.'],
    [new A2AError('UNAVAILABLE', 'Later'), undefined],
  ])('that is declined while the agent says %s', async (error, refusal) => {
    const agentWith = () => ({ task: () => ({ cancel: () => Promise.reject(error) }) });
    const { start } = await converse({ answers: [{ action: 'decline' }], agentWith });
    const declined = start().send('1');
    if (refusal === undefined) return expect(declined).rejects.toBe(error);
    expect([stateOf(await declined), (await declined).refusal]).toEqual(['INPUT_REQUIRED', refusal]);
  });

  it('is none in a message without a task', async () => {
    const { start, asked } = await converse({ answers: [] }, () => reply('Hello'));
    expect((await start().send('x')).reply.message?.parts).toMatchObject([{ text: 'Hello' }]);
    expect(asked).toEqual([]);
  });

  it('of a task that waits already goes to the user', async () => {
    const { start } = await converse({ answers: [accepted('a')] });
    const { reply: first } = await start(false).send('1');
    expect((await start().wait(first.task!.id)).reply.task?.status.message?.parts).toMatchObject([
      { text: '1 a' },
    ]);
  });

  it('is followed with the extensions of the call, and those of the message', async () => {
    const seen: (readonly string[] | undefined)[] = [];
    const agentWith = (agent: AgentClient) => ({
      stream: (...[input, options]: Parameters<AgentClient['stream']>) => {
        seen.push(options?.extensions);
        return agent.stream(input, options);
      },
      follow: (...[task, options]: Parameters<AgentClient['follow']>) => {
        seen.push(options?.extensions);
        return agent.follow(task, options);
      },
    });
    const { start } = await converse({ answers: [], agentWith });
    const { reply: first } = await start(false).send('1', { extensions: ['https://a.example', FORM_INPUT] });
    await start(false).wait(first.task!.id);
    expect(seen).toEqual([[FORM_INPUT, 'https://a.example'], [FORM_INPUT]]);
  });
});

describe('in a request of protocol 2026-07-28', () => {
  /** A request that goes on after the question of a task. */
  async function resumed(
    times: string,
    answer: object | undefined,
    change: (asked: { taskId: string; asked: string }) => object = (asked) => asked,
    agent?: Agent,
  ) {
    const first = await converse({}, agent);
    const { input, reply: given } = await first.start().send(times);
    const { requestState, inputRequests } = input as unknown as {
      requestState: string;
      inputRequests: object;
    };
    const state = JSON.stringify(change(JSON.parse(requestState)));
    const again = (responses: object | undefined) => {
      const mcpReq = {
        signal: new AbortController().signal,
        envelope: {},
        requestState: () => state,
        inputResponses: responses,
      };
      const call = {
        agent: first.client,
        context: { mcpReq } as never,
        extensions: [],
        waitMs: 0,
        cancelsTask: true,
        onError: () => {},
        notify: async () => {},
      };
      return new Conversation(call, true).send('');
    };
    return {
      asked: inputRequests,
      taskId: given.task!.id,
      outcome: await again(answer && { answer }),
      again,
    };
  }

  it('a question ends it, with what the next one needs', async () => {
    const { asked, outcome, taskId } = await resumed('2', accepted('a'));
    expect(asked).toMatchObject({
      answer: { method: 'elicitation/create', params: { message: 'Question 1' } },
    });
    expect(outcome.input).toMatchObject({ inputRequests: { answer: { params: { message: 'Question 2' } } } });
    const { requestState } = outcome.input as unknown as { requestState: string };
    expect(JSON.parse(requestState)).toEqual({
      taskId,
      asked: outcome.reply.task?.status.message?.messageId,
    });
  });

  it('an answer that comes again answers no other question', async () => {
    const { again, outcome } = await resumed('2', accepted('a'));
    expect(outcome.input).toMatchObject({ inputRequests: { answer: { params: { message: 'Question 2' } } } });
    expect((await again({ answer: accepted('a') })).input).toMatchObject({
      inputRequests: { answer: { params: { message: 'Question 2' } } },
    });
  });

  it('an answer to a task that has ended gets its result', async () => {
    const { again } = await resumed('1', accepted('a'));
    const { reply: given } = await again({ answer: accepted('b') });
    expect(given.task?.status.message?.parts).toMatchObject([{ text: '1 a' }]);
  });

  it('no answer asks again, a closed question waits, a declined one cancels', async () => {
    expect((await resumed('1', undefined)).outcome.input).toMatchObject({
      inputRequests: { answer: { params: { message: 'Question 1' } } },
    });
    const closed = (await resumed('1', { action: 'cancel' })).outcome;
    expect([stateOf(closed), closed.input, closed.refusal]).toEqual(['INPUT_REQUIRED', undefined, undefined]);
    const declined = (await resumed('1', { action: 'decline' })).outcome;
    expect([stateOf(declined), declined.refusal]).toEqual([
      'CANCELED',
      'The question was declined, so the task was canceled.',
    ]);
  });

  it('a question without words is answered once', async () => {
    const silent: Agent = async function* ({ messages }) {
      if (messages.length === 1) yield { status: { state: 'TASK_STATE_INPUT_REQUIRED' } };
      else yield { status: { state: 'TASK_STATE_COMPLETED' } };
    };
    const { again, taskId, outcome } = await resumed('x', accepted('a'), (asked) => asked, silent);
    expect([stateOf(outcome), stateOf(await again({ answer: accepted('b') })), taskId]).toEqual([
      'COMPLETED',
      'COMPLETED',
      outcome.reply.task?.id,
    ]);
  });

  it.each(['x', '{}', 'null', '7', '{"taskId":"","asked":"x"}', '{"taskId":"x"}', '{"asked":"x"}'])(
    'the state %j is none of this server',
    async (state) => {
      const { start } = await converse({ state });
      await expect(start().send('1')).rejects.toThrow('The state of the request is none of this server');
    },
  );

  it.each([undefined, 7, null])('the state %s is none at all', async (state) => {
    const { start } = await converse({ state });
    expect(stateOf(await start().send('0'))).toBe('COMPLETED');
  });
});

it('an answer that continues a task is not sent again with the answer to the next question', async () => {
  const { agent } = await serveAgent(skillsAgent(closedGate()));
  const { url } = await serveMcp(agent);
  const silent = await mcpClient(url, '2026-07-28');
  const { _meta } = await silent.callTool({ name: 'name' });
  const { id: taskId } = _meta!['batonjs.dev/task'] as { id: string };
  const client = await mcpClient(url, '2026-07-28', [{ answer: 'Lovelace' }]);
  const result = await client.callTool({ name: 'continue_task', arguments: { taskId, answer: 'Ada' } });
  expect(textOf(result)).toBe('Ada Lovelace');
});
