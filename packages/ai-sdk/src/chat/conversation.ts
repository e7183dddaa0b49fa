import { isTerminal, textOf } from '@batonjs/client';
import type { Artifact, Json, Message, Part, Task, TaskState } from '@batonjs/protocol';
import { FORM_TYPE } from '@batonjs/protocol/forms';
import { type AbstractChat, getToolOrDynamicToolName, isToolUIPart, type UIMessage } from 'ai';
import { partsOf, shownParts } from './chat.ts';

type Used = 'id' | 'messages' | 'status' | 'error' | 'sendMessage' | 'stop' | 'addToolApprovalResponse';

/**
 * The conversation of `useChat`, with any transport, for `<Chat conversation={…}>` of `@batonjs/react/chat`: a message of
 * the user and its answer are a task. Pass an `A2AChatTransport`, or a function like its `cancel`, which resolves to
 * `false` if nothing ran: without it, *Stop* only ends the reading.
 */
export function conversationOf<Shown extends UIMessage>(
  used: Pick<AbstractChat<Shown>, Used>,
  transport?: { readonly cancel: (chatId: string) => Promise<unknown> },
) {
  const chat: Pick<AbstractChat<UIMessage>, Used> = Object(used);
  const { id, messages, status, error } = chat;
  const last = messages.at(-1);
  const isRunning = status === 'submitted' || status === 'streaming';
  // No answer began: the message can be sent again as the same.
  const failed = status === 'error' && last?.role === 'user' ? last : undefined;
  const tasks = exchangesOf(messages.filter((message) => message !== failed)).map((exchange) =>
    exchange.includes(last)
      ? taskOf(exchange, isRunning ? doingOf(last) : statusOf(last, error))
      : pastTask(exchange),
  );
  const asking = approvalsIn(last);
  return {
    contextId: last && id,
    tasks,
    sent: failed ? [{ message: saidBy(failed), state: 'failed' as const, error }] : [],
    current: tasks.slice(-1).find((task) => !isTerminal(task)),
    connection: (isRunning && taskIn(last).connection) || ('connected' as const),
    error: undefined,
    send: ({ messageId, parts }: Pick<Message, 'parts'> & Partial<Message>) =>
      failed && failed.id === messageId ? chat.sendMessage() : chat.sendMessage({ parts: shownParts(parts) }),
    async answer(values: Json) {
      if (asking.length === 0) return chat.sendMessage({ parts: shownParts([{ data: values }]) });
      for (const { toolCallId, approval } of asking) {
        const { approved } = Object(Object(values)[toolCallId]);
        await chat.addToolApprovalResponse({ id: approval?.id ?? toolCallId, approved: approved === true });
      }
    },
    cancel: async () => (await transport?.cancel(id)) || chat.stop(),
  };
}

/** A message of the user, and its answer. One of both may be missing. */
type Exchange = readonly [asked: UIMessage | undefined, answer: UIMessage | undefined];

const exchangesOf = (messages: readonly UIMessage[]): Exchange[] =>
  messages.flatMap((message, index): Exchange[] => {
    const [before, next] = [messages[index - 1], messages[index + 1]];
    if (message.role === 'user') return [[message, next?.role === 'assistant' ? next : undefined]];
    return message.role === 'assistant' && before?.role !== 'user' ? [[undefined, message]] : [];
  });

const known = new WeakMap<object, Task>();

/** The task of an exchange that others follow: the same object while its answer is, so that it is not rendered again. */
function pastTask(exchange: Exchange): Task {
  const [asked, answer] = exchange;
  const key = answer ?? asked ?? exchange;
  const task = known.get(key) ?? taskOf(exchange, endOf(answer));
  known.set(key, task);
  return task;
}

type Status = readonly [state: TaskState, parts: Part[]];

function taskOf([asked, answer]: Exchange, [state, parts]: Status): Task {
  const id = (asked ?? answer)?.id ?? '';
  const isAsking = state.endsWith('_REQUIRED');
  const calls = toolsIn(answer).filter(({ state }) => !isAsking || state !== 'approval-requested');
  const history = calls.map((call) => ofAgent(call.toolCallId, [{ data: callOf(call) }]));
  return {
    id,
    history: asked ? [saidBy(asked), ...history] : history,
    artifacts: artifactsOf(answer, isAsking ? textOf({ parts }) : ''),
    status: { state, ...(parts.length > 0 && { message: ofAgent(`${id} status`, parts) }) },
  };
}

/** How an answer ended. One that broke off has what it gave. */
function endOf(answer: UIMessage | undefined): Status {
  const { state = 'TASK_STATE_COMPLETED', text } = taskIn(answer);
  const isBad = isTerminal({ status: { state } }) && state !== 'TASK_STATE_COMPLETED';
  return isBad ? [state, words(text)] : ['TASK_STATE_COMPLETED', []];
}

const doingOf = (last?: UIMessage): Status => ['TASK_STATE_WORKING', words(taskIn(last).text)];

/** How the last answer is at rest. */
function statusOf(last: UIMessage | undefined, error: Error | undefined): Status {
  const end = endOf(last);
  if (end[0] !== 'TASK_STATE_COMPLETED') return end;
  if (error) return ['TASK_STATE_FAILED', words(error.message)];
  const calls = approvalsIn(last);
  const why = new Set(calls.flatMap(({ approval }) => approval?.requestReason ?? []));
  const toolCalls = calls.map((call) => ({ ...callOf(call), state: '', needs: 'approval' }));
  if (calls.length > 0)
    return ['TASK_STATE_INPUT_REQUIRED', [...words([...why].join('\n')), { data: { toolCalls } }]];
  const { state, text, form } = dataIn(last, 'data-question');
  return state ? [state, [...words(text), ...(form ? [{ data: form, mediaType: FORM_TYPE }] : [])]] : end;
}

/** What the transport puts into data parts of an answer. */
type Given = { state?: TaskState; text?: string; form?: Json; connection?: 'reconnecting' };

const dataIn = (message: UIMessage | undefined, type: string): Given =>
  Object(message?.parts.findLast((part) => part.type === type)).data ?? {};
const taskIn = (message: UIMessage | undefined) => dataIn(message, 'data-task');
const toolsIn = (message: UIMessage | undefined) => message?.parts.filter(isToolUIPart) ?? [];
const approvalsIn = (message: UIMessage | undefined) =>
  toolsIn(message).filter(({ state }) => state === 'approval-requested');

const ends: Readonly<Record<string, string>> = { available: 'done', denied: 'denied', error: 'failed' };

/** A call of a tool, as agents show it in data of a message. */
const callOf = (part: ReturnType<typeof toolsIn>[number]) => {
  const { toolCallId, state, input, output, errorText } = Object(part);
  const toolName = getToolOrDynamicToolName(part);
  const shown = ends[state.replace('output-', '')] ?? 'called';
  return { toolCallId, toolName, state: shown, input, output: output ?? errorText };
};

const words = (text = ''): Part[] => (text ? [{ text }] : []);
const saidBy = (message: UIMessage): Message => ({
  ...ofAgent(message.id, partsOf(message)),
  role: 'ROLE_USER',
});
const ofAgent = (messageId: string, parts: Part[]): Message => ({ messageId, role: 'ROLE_AGENT', parts });

/** What the model thought, and each text, file and piece of data. One that did not change has the text that it had. */
function artifactsOf(answer: UIMessage | undefined, question: string): Artifact[] {
  const parts = answer?.parts ?? [];
  const thought = parts.flatMap((part) => (part.type === 'reasoning' ? part.text : [])).join('\n\n');
  const made = parts.map((part, index): Artifact => {
    const { name, data }: Artifact & { data?: Json } = Object('data' in part && part.data);
    const given = part.type === 'data-artifact' ? [{ data: data ?? null }] : [];
    const shown = part.type === 'text' && part.text === question ? [] : partsOf({ parts: [part] });
    return { artifactId: `${index}`, parts: [...shown, ...given], ...(name && { name }) };
  });
  return [{ artifactId: 'reasoning', parts: words(thought) }, ...made].filter(
    ({ parts }) => parts.length > 0,
  );
}
