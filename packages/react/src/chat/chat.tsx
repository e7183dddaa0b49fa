/** @jsxImportSource react */
import { type AgentClient, isTransient, textOf } from '@batonjs/client';
import {
  type ClipboardEvent,
  type DragEvent,
  type ReactNode,
  type SyntheticEvent,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useConversation } from '../use-conversation.ts';
import { useUpload } from '../use-upload.ts';
import { Composer } from './composer.tsx';
import { Conversations } from './conversations.tsx';
import { Markdown } from './markdown.tsx';
import { Button, ChatContext, type ChatConversation, type ChatUse, type Highlight } from './parts.tsx';
import { Said, TaskView } from './task-view.tsx';
import { type ChatTexts, english } from './texts.ts';
import { useFollowedEnd } from './use-followed-end.ts';

/** Props of `Chat`. */
export interface ChatProps {
  /** The agent to talk with; undefined until `connect` has it. */
  readonly agent?: AgentClient | undefined;
  /** A conversation that something else keeps, in place of an agent, such as that of `useConversation`. */
  readonly conversation?: ChatConversation | undefined;
  /** All words. Default: `english`. */
  readonly texts?: ChatTexts | undefined;
  /** Colours code in a language. It is called when the code is whole, so it may load what it needs then. */
  readonly highlight?: Highlight | undefined;
  /** What stands at the end of the head, such as a button of the app. */
  readonly children?: ReactNode;
}

/**
 * A conversation with an agent, and the list of those before. The id of the conversation stands in the address, behind
 * `#`: a reload and a second tab show the same. It fills the element around it, with the styles of
 * `@batonjs/react/chat.css`.
 */
export function Chat({ agent, conversation, texts = english, highlight, children }: ChatProps) {
  const contextId = useSyncExternalStore(onHash, readHash, () => undefined);
  const kept = useConversation(conversation ? undefined : agent, contextId);
  const talk = conversation ?? kept;
  const attached = useUpload(agent);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { scroller, isAtEnd, toEnd } = useFollowedEnd();
  const write = (words = '') => {
    setText(words);
    field.current?.focus();
  };
  const use = useChatUse(talk, { texts, highlight }, { toEnd, write });
  const choose = (id?: string) => {
    setHash(id);
    setOpen(false);
    toEnd();
    write();
  };
  const toggle = () => setOpen(!isOpen);
  const take = (event: SyntheticEvent, { files, types }: DataTransfer) => {
    // An office program copies text with a picture of it.
    if (!types.includes('Files') || types.includes('text/plain')) return;
    // A page that lets a file fall is left for that file.
    event.preventDefault();
    if (attached.accept) attached.add(files);
  };
  const onDrop = (event: DragEvent) => take(event, event.dataTransfer);
  const onPaste = (event: ClipboardEvent) => take(event, event.clipboardData);
  const name = agent?.card.name ?? '';
  const log = { role: 'log', 'aria-live': 'off', 'aria-label': name || texts.message, tabIndex: 0 } as const;
  return (
    <ChatContext.Provider value={use}>
      <div className="baton-chat" lang={texts.lang} {...{ onDrop, onDragOver: onDrop, onPaste }}>
        {!conversation && (
          <nav aria-label={texts.conversations} data-open={isOpen || undefined}>
            <Button label={texts.newChat} onClick={() => choose()} />
            {agent && (
              <Conversations key={agent.interface.url} {...{ agent, current: contextId, onChoose: choose }} />
            )}
          </nav>
        )}
        <header>
          {!conversation && (
            <Button label={texts.conversations} sign="☰" aria-expanded={isOpen} onClick={toggle} />
          )}
          {name && <h1 dir="auto">{name}</h1>}
          {children}
        </header>
        <div className="baton-log" ref={scroller} {...log}>
          <div>
            {agent && !contextId && talk.sent.length === 0 && <Welcome card={agent.card} />}
            <Log talk={talk} />
          </div>
        </div>
        <footer>
          {!isAtEnd && <Button className="baton-newest" label={`↓ ${texts.newest}`} onClick={toEnd} />}
          {(agent ?? conversation) && <Composer {...{ talk, text, onText: setText, field, attached }} />}
        </footer>
      </div>
    </ChatContext.Provider>
  );
}

type Page = { toEnd(): void; write(text: string): void };

/** What parts of the chat use: one object, so that a chunk renders its own task only. */
function useChatUse(
  talk: ChatConversation,
  { texts, highlight }: Pick<ChatUse, 'texts' | 'highlight'>,
  page: Page,
) {
  const latest = useRef({ talk, page });
  latest.current = { talk, page };
  useEffect(() => {
    if (talk.contextId !== undefined) setHash(talk.contextId);
  }, [talk.contextId]);
  return useMemo<ChatUse>(
    () => ({
      ...{ texts, highlight },
      answer: (values) => latest.current.talk.answer(values),
      edit: (message) => latest.current.page.write(textOf(message)),
      send(message) {
        latest.current.page.toEnd();
        // A message that fails stays, and says why.
        void latest.current.talk.send(message).catch(() => {});
      },
    }),
    [texts, highlight],
  );
}

/** So many tasks are shown at first, and added by each press. */
const pageSize = 20;

/** The tasks, and the messages that are in none. */
function Log({ talk: { tasks, sent, connection, error } }: { readonly talk: ChatConversation }) {
  const { texts, send } = useContext(ChatContext);
  const [count, setCount] = useState(pageSize);
  const why = (error: unknown) => (isTransient(error) ? texts.unreachable : String(Object(error).message));
  return (
    <>
      {tasks.length > count && <Button label={texts.earlier} onClick={() => setCount(count + pageSize)} />}
      {tasks.slice(-count).map((task) => (
        <TaskView key={task.id} task={task} />
      ))}
      {sent.map(({ message, state, error, reply }) => (
        <article key={message.messageId} data-state={state}>
          <Said message={message} />
          {state === 'failed' && (
            <p className="baton-failure">
              {why(error)} <Button label={texts.again} onClick={() => send(message)} />
            </p>
          )}
          {reply && <Said message={reply} />}
        </article>
      ))}
      {connection === 'closed' && error !== undefined && <p className="baton-failure">{why(error)}</p>}
    </>
  );
}

/** What the agent says of itself, and the examples of its skills. */
function Welcome({ card }: Pick<AgentClient, 'card'>) {
  const { send } = useContext(ChatContext);
  const examples = card.skills.flatMap(({ examples = [] }) => examples).slice(0, 4);
  return (
    <div className="baton-welcome">
      <Markdown text={`# ${card.name}\n\n${card.description}`} />
      {examples.map((text) => (
        <Button key={text} label={text} dir="auto" onClick={() => send({ parts: [{ text }] })} />
      ))}
    </div>
  );
}

/** The id of the conversation, in the address. */
const readHash = () => new URLSearchParams(location.hash.slice(1)).get('chat') ?? undefined;

const setHash = (chat?: string): void => {
  if (chat !== readHash()) location.hash = chat ? `${new URLSearchParams({ chat })}` : '';
};

function onHash(listen: () => void): () => void {
  addEventListener('hashchange', listen);
  return () => removeEventListener('hashchange', listen);
}
