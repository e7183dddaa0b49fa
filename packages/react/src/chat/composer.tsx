/** @jsxImportSource react */
import { isInterrupted, textOf } from '@batonjs/client';
import { type KeyboardEvent, type RefObject, useContext, useRef } from 'react';
import type { UsedUpload } from '../use-upload.ts';
import { Button, ChatContext, type ChatConversation } from './parts.tsx';

interface ComposerProps {
  readonly talk: ChatConversation;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly attached: UsedUpload;
}

/** The field of the message, its files, and what it is about: Enter sends, Shift+Enter begins a line. */
export function Composer({ talk, text, onText, field, attached }: ComposerProps) {
  const { texts, send } = useContext(ChatContext);
  const chooser = useRef<HTMLInputElement>(null);
  const { current, connection } = talk;
  const { files, accept, add, remove, clear } = attached;
  const isRunning = current !== undefined && !isInterrupted(current);
  const label = current && !isRunning ? texts.answer : texts.message;
  const isEmpty = text.trim() === '' && files.length === 0;
  const isReady = !isEmpty && files.every(({ part }) => part);
  const submit = () => {
    if (!isReady) return;
    const words = text.trim() ? [{ text: text.trim() }] : [];
    send({ parts: [...words, ...files.flatMap(({ part }) => part ?? [])] });
    onText('');
    clear();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <>
      <p role="status">{connection === 'reconnecting' && texts.offline}</p>
      {files.map(({ file, progress, part, error }, index) => (
        <p
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have all in common.
          key={index}
          className="baton-attached"
          data-state={error ? 'failed' : undefined}
          aria-busy={!part && !error}
        >
          <span dir="auto">{file.name}</span>{' '}
          {error
            ? error instanceof RangeError
              ? texts.tooLarge
              : String(Object(error).message)
            : !part && <progress aria-label={file.name} value={progress || undefined} />}
          <Button label={`${texts.remove}: ${file.name}`} sign="×" onClick={() => remove(file)} />
        </p>
      ))}
      <div className="baton-composer">
        {accept && (
          <>
            <input
              {...{ ref: chooser, type: 'file', multiple: true, hidden: true, accept }}
              onChange={({ target }) => {
                add([...(target.files ?? [])]);
                // The same file may be chosen again.
                target.value = '';
              }}
            />
            <Button label={texts.attach} sign="+" onClick={() => chooser.current?.click()} />
          </>
        )}
        <textarea
          {...{ ref: field, dir: 'auto', value: text, 'aria-label': label, placeholder: label }}
          {...{ onKeyDown, rows: Math.min(8, text.split('\n').length) }}
          onChange={({ target }) => onText(target.value)}
        />
        {isRunning && isEmpty ? (
          <Button label={texts.stop} sign="■" onClick={() => talk.cancel().catch(() => {})} />
        ) : (
          <Button label={texts.send} sign="↑" disabled={!isReady} onClick={submit} />
        )}
      </div>
      <p role="status" className="baton-hidden">
        {isRunning ? texts.working : lastWords(talk)}
      </p>
    </>
  );
}

/** The last answer or question as a whole, for screen readers: its chunks are not read out. */
const lastWords = ({ tasks }: ChatConversation): string =>
  [...(tasks.at(-1)?.artifacts ?? []), tasks.at(-1)?.status.message].map(textOf).join(' ').slice(-1_000);
