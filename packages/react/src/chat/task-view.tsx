/** @jsxImportSource react */
import { conversation, isInterrupted, isTerminal, textOf } from '@batonjs/client';
import type { AwaitedToolCall, ShownToolCall } from '@batonjs/client/answers';
import type { Artifact, Json, Message, Task } from '@batonjs/protocol';
import { formIn } from '@batonjs/protocol/forms';
import { createElement, memo, type ReactNode, useContext, useState } from 'react';
import { QuestionForm } from '../form/question-form.tsx';
import { Markdown } from './markdown.tsx';
import { Button, ChatContext, CopyButton, Scrolled, shown } from './parts.tsx';

/** One task: what was said, what the agent did, what it made, and the question that it waits with. */
export const TaskView = memo(function TaskView({ task }: { readonly task: Task }) {
  const { texts, send } = useContext(ChatContext);
  const { artifacts = [], status } = task;
  const [isOver, isAsking] = [isTerminal(task), isInterrupted(task)];
  const isRunning = !isOver && !isAsking;
  const rows = rowsOf(conversation(task).filter((message) => isRunning || message !== status.message));
  const first = rows[0]?.said;
  const words = textOf(status.message);
  // A task that failed without a word is called so.
  const endings: Record<string, string> = { TASK_STATE_CANCELED: texts.stopped, TASK_STATE_COMPLETED: '' };
  const made = artifacts.filter(isAnswer).map(textOf);
  return (
    <article aria-label={textOf(first).slice(0, 80) || texts.message} data-state={status.state}>
      {rows.map(({ said, steps }, index) => (
        <div key={said?.messageId ?? index}>
          {said && <Said message={said} />}
          <Steps steps={steps} isRunning={isRunning && index === rows.length - 1} />
        </div>
      ))}
      {artifacts.map((artifact) => (
        <ArtifactView key={artifact.artifactId} artifact={artifact} />
      ))}
      {isAsking && <Question message={status.message} />}
      {isOver && <Markdown text={words || (endings[status.state] ?? texts.failed)} />}
      {isOver && (
        <p className="baton-actions">
          <CopyButton text={[...made, words].filter(Boolean).join('\n\n')} />
          {first && <Button label={texts.again} onClick={() => send({ parts: first.parts })} />}
        </p>
      )}
    </article>
  );
});

/** What was said, each with the steps of the agent after it. A message of the agent that was answered is a question. */
function rowsOf(messages: readonly Message[]): readonly { said?: Message; steps: Message[] }[] {
  const rows: { said?: Message; steps: Message[] }[] = [];
  const isUser = (message?: Message) => message?.role === 'ROLE_USER';
  for (const [index, message] of messages.entries()) {
    if (isUser(message) || (rows.length > 0 && isUser(messages[index + 1])))
      rows.push({ said: message, steps: [] });
    else if (rows.length === 0) rows.push({ steps: [message] });
    else rows.at(-1)?.steps.push(message);
  }
  return rows;
}

/** A message: of the reader with what can be done with it, or text of the agent. */
export function Said({ message }: { readonly message: Message }) {
  const { texts, edit } = useContext(ChatContext);
  const text = textOf(message);
  if (message.role !== 'ROLE_USER') return <Markdown text={text} />;
  const values = message.parts.flatMap((part) => ('data' in part ? Object.entries(valuesIn(part.data)) : []));
  const decided = (value: unknown) =>
    value === true ? texts.allow : value === false ? texts.deny : shown(value);
  return (
    <div className="baton-said">
      <div dir="auto" className="baton-bubble">
        <Files of={message} />
        {text ||
          values.map(([name, value]) => `${name}: ${decided(Object(value).approved ?? value)}`).join('\n')}
      </div>
      {text && (
        <span className="baton-actions">
          <CopyButton text={text} />
          <Button label={texts.edit} onClick={() => edit(message)} />
        </span>
      )}
    </div>
  );
}

/** The values of an answer: of a form, or decisions about calls of tools. */
const valuesIn = (data: Json): object => Object(Object(data).values ?? data);

/** What a model thought is no part of its answer. */
const isAnswer = ({ artifactId }: Artifact): boolean => artifactId !== 'reasoning';

/** An artifact that did not change is the same object, and is not rendered again. */
const ArtifactView = memo(function ArtifactView({ artifact }: { readonly artifact: Artifact }) {
  const data = artifact.parts.filter((part) => 'data' in part);
  const text = [textOf(artifact), ...data.map(({ data }) => `~~~~json\n${shown(data)}\n~~~~`)].join('\n\n');
  if (isAnswer(artifact))
    return (
      <>
        <Files of={artifact} />
        <Markdown text={text} />
      </>
    );
  return (
    <details className="baton-steps">
      <summary>{artifact.name ?? artifact.artifactId}</summary>
      <Markdown text={text} />
    </details>
  );
});

/** Pictures, and other files to be loaded. Text is not among them: it may have a part for each chunk. */
const Files = ({ of: { parts } }: { readonly of: Pick<Artifact, 'parts'> }): ReactNode =>
  parts.map((part, key) => {
    const { mediaType = 'application/octet-stream', filename = mediaType } = part;
    const href = 'raw' in part ? `data:${mediaType};base64,${part.raw}` : 'url' in part ? part.url : '';
    if (!/^(https?|data):/i.test(href)) return null;
    if (mediaType.startsWith('image/')) return createElement('img', { key, src: href, alt: filename });
    return createElement('a', { key, className: 'baton-file', href, download: filename }, filename);
  });

/** A call of a tool, as agents show it in data of a message: alone, or among those that wait for a person. */
type Call = Pick<ShownToolCall, 'toolCallId' | 'toolName'> & Partial<ShownToolCall & AwaitedToolCall>;

/** The calls in messages, each in its latest state. */
function callsIn(messages: readonly Message[]): readonly Call[] {
  const calls = new Map<string, Call>();
  for (const part of messages.flatMap(({ parts }) => parts)) {
    const data = 'data' in part ? Object(part.data) : {};
    for (const call of Array.isArray(data.toolCalls) ? data.toolCalls : data.toolName ? [data] : [])
      calls.set(call.toolCallId, { ...calls.get(call.toolCallId), ...call });
  }
  return [...calls.values()];
}

/** Calls of tools: their names and states, what they got and what they gave. */
const Calls = ({ calls }: { readonly calls: readonly Call[] }) =>
  calls.map(({ toolCallId, toolName, state, input, output }) => (
    <div key={toolCallId}>
      <b>{toolName}</b> {state}
      <Scrolled value={input} />
      <Scrolled value={output} />
    </div>
  ));

/** What the agent did, on one line that opens. A single word of it is worth no line once it is over. */
function Steps({ steps, isRunning }: { steps: readonly Message[]; isRunning: boolean }) {
  const { texts } = useContext(ChatContext);
  const calls = callsIn(steps);
  const words = steps.map(textOf).filter(Boolean);
  if (!isRunning && calls.length === 0 && words.length < 2) return null;
  const names = [...new Set(calls.map(({ toolName }) => toolName))].join(', ');
  return (
    <details className="baton-steps" data-running={isRunning || undefined}>
      <summary dir="auto">
        {isRunning ? textOf(steps.at(-1)) || names || texts.working : names || texts.steps}
      </summary>
      <Markdown text={words.join('\n\n')} />
      <Calls calls={calls} />
    </details>
  );
}

/** A question: calls to be approved with their buttons, a form, or words, which the next message answers. */
function Question({ message }: { readonly message: Message | undefined }) {
  const { texts, answer } = useContext(ChatContext);
  const [isBusy, setBusy] = useState(false);
  const [form, calls] = [formIn(message), callsIn(message ? [message] : [])];
  // Several calls with a form are decided one by one.
  const isApproval = calls.some(({ needs }) => needs === 'approval') && (calls.length === 1 || !form);
  const decide = async (approved: boolean) => {
    setBusy(true);
    const values = calls.map(({ toolCallId }) => [toolCallId, form ? approved : { approved }]);
    await answer(Object.fromEntries(values)).catch(() => {});
    setBusy(false);
  };
  return (
    <section className="baton-question" aria-label={textOf(message).slice(0, 80) || texts.answer}>
      <Markdown text={textOf(message)} />
      <Calls calls={calls} />
      {isApproval && (
        <p className="baton-buttons">
          <Button label={texts.allow} disabled={isBusy} onClick={() => decide(true)} />
          <Button label={texts.deny} disabled={isBusy} onClick={() => decide(false)} />
        </p>
      )}
      {form && !isApproval && (
        <QuestionForm key={form.formId} form={form} onAnswer={answer}>
          <Button label={texts.send} type="submit" />
        </QuestionForm>
      )}
    </section>
  );
}
