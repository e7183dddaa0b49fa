/** @jsxImportSource react */
import type { Json, Message } from '@batonjs/protocol';
import {
  type ComponentProps,
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useState,
} from 'react';
import type { UsedConversation } from '../use-conversation.ts';
import { type ChatTexts, english } from './texts.ts';

/** A conversation as `Chat` shows it. */
export interface ChatConversation
  extends Pick<UsedConversation, 'contextId' | 'tasks' | 'sent' | 'current' | 'connection' | 'error'> {
  readonly send: (message: Pick<Message, 'parts'>) => Promise<unknown>;
  readonly answer: (values: Json) => Promise<unknown>;
  readonly cancel: () => Promise<unknown>;
}

/** The elements of code in a language; undefined where it is not known. */
export type Highlight = (code: string, language: string) => ReactNode | Promise<ReactNode>;

/** The chat around a component: the same object as long as its texts are the same. */
export interface ChatUse {
  readonly texts: ChatTexts;
  readonly highlight?: Highlight | undefined;
  readonly answer: (values: Json) => Promise<unknown>;
  readonly send: (message: Pick<Message, 'parts'>) => void;
  /** Puts the message into the field, to be changed and sent. */
  readonly edit: (message: Message) => void;
}

export const ChatContext = createContext({ texts: english } as ChatUse);

type ButtonProps = ComponentProps<'button'> & { readonly label: string; readonly sign?: string };

/** A button: with its label, or with a sign and the label as its name. */
export const Button = ({ label, sign, ...props }: ButtonProps) => (
  <button type="button" aria-label={sign && label} {...props}>
    {sign ?? label}
  </button>
);

/** Copies a text, and says so until the focus leaves. */
export function CopyButton({ text }: { readonly text: string }) {
  const { copy, copied } = useContext(ChatContext).texts;
  const [isCopied, setCopied] = useState(false);
  const onClick = () => void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  return <Button label={isCopied ? copied : copy} onClick={onClick} onBlur={() => setCopied(false)} />;
}

/** A value without quotes around a text. */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');

/** Data, or code. What scrolls is reached by the keyboard. */
export const Scrolled = ({ value }: { readonly value: unknown }) =>
  value === undefined ? null : createElement('pre', { tabIndex: 0 }, shown(value));
