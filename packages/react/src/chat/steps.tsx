/** @jsxImportSource react */
import { textOf } from '@batonjs/client';
import type { AwaitedToolCall, ShownToolCall } from '@batonjs/client/answers';
import type { Message } from '@batonjs/protocol';
import { formIn } from '@batonjs/protocol/forms';
import { useContext, useState } from 'react';
import { QuestionForm } from '../form/question-form.tsx';
import { Markdown } from './markdown.tsx';
import { Button, ChatContext, Scrolled } from './parts.tsx';

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
export function Steps({ steps, isRunning }: { steps: readonly Message[]; isRunning: boolean }) {
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
export function Question({ message }: { readonly message: Message | undefined }) {
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
