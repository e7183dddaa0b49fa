/** @jsxImportSource react */
import { isInterrupted, textOf } from '@batonjs/client';
import { type KeyboardEvent, type RefObject, useContext } from 'react';
import type { UsedConversation } from '../use-conversation.ts';
import { Button, ChatContext } from './parts.tsx';

interface ComposerProps {
  readonly talk: UsedConversation;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

/** The field of the message, and what it is about: Enter sends, Shift+Enter begins a line. */
export function Composer({ talk, text, onText, field }: ComposerProps) {
  const { texts, send } = useContext(ChatContext);
  const { current, connection } = talk;
  const isRunning = current !== undefined && !isInterrupted(current);
  const label = current && !isRunning ? texts.answer : texts.message;
  const isEmpty = text.trim() === '';
  const submit = () => {
    if (isEmpty) return;
    send({ parts: [{ text: text.trim() }] });
    onText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <>
      <p role="status">{connection === 'reconnecting' && texts.offline}</p>
      <div className="baton-composer">
        <textarea
          {...{ ref: field, dir: 'auto', value: text, 'aria-label': label, placeholder: label, onKeyDown }}
          rows={Math.min(8, text.split('\n').length)}
          onChange={({ target }) => onText(target.value)}
        />
        {isRunning && isEmpty ? (
          <Button label={texts.stop} sign="■" onClick={() => talk.cancel().catch(() => {})} />
        ) : (
          <Button label={texts.send} sign="↑" disabled={isEmpty} onClick={submit} />
        )}
      </div>
      <p role="status" className="baton-hidden">
        {isRunning ? texts.working : lastWords(talk)}
      </p>
    </>
  );
}

/** The last answer or question as a whole, for screen readers: its chunks are not read out. */
const lastWords = ({ tasks }: UsedConversation): string =>
  [...(tasks.at(-1)?.artifacts ?? []), tasks.at(-1)?.status.message].map(textOf).join(' ').slice(-1_000);
