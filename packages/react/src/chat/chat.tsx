/** @jsxImportSource react */
import { type AgentClient, isInterrupted, isTransient, textOf } from '@batonjs/client';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { type UsedConversation, useConversation } from '../use-conversation.ts';
import { useTasks } from '../use-tasks.ts';
import { Markdown } from './markdown.tsx';
import { Button, ChatContext, type ChatUse } from './parts.tsx';
import { Said, TaskView } from './task-view.tsx';
import { type ChatTexts, english } from './texts.ts';
import { useFollowedEnd } from './use-followed-end.ts';

/** Props of `Chat`. */
export interface ChatProps {
  /** The agent to talk with; undefined until `connect` has it. */
  readonly agent: AgentClient | undefined;
  /** All words. Default: `english`. */
  readonly texts?: ChatTexts | undefined;
  /** What stands at the end of the head, such as a button of the app. */
  readonly children?: ReactNode;
}

/**
 * A conversation with an agent, and the list of those before. The id of the conversation stands in the address, behind
 * `#`: a reload and a second tab show the same. It fills the element around it, with the styles of
 * `@batonjs/react/chat.css`.
 */
export function Chat({ agent, texts = english, children }: ChatProps) {
  const contextId = useSyncExternalStore(onHash, readHash, () => undefined);
  const talk = useConversation(agent, contextId);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { scroller, isAtEnd, toEnd } = useFollowedEnd();
  const write = (words = '') => {
    setText(words);
    field.current?.focus();
  };
  const use = useChatUse(talk, texts, { toEnd, write });
  const choose = (id?: string) => {
    setHash(id);
    setOpen(false);
    toEnd();
    write();
  };
  const toggle = () => setOpen(!isOpen);
  const name = agent?.card.name ?? '';
  const log = { role: 'log', 'aria-live': 'off', 'aria-label': name, tabIndex: 0 } as const;
  return (
    <ChatContext.Provider value={use}>
      <div className="baton-chat" lang={texts.lang}>
        <nav aria-label={texts.conversations} data-open={isOpen || undefined}>
          <Button label={texts.newChat} onClick={() => choose()} />
          <Conversations agent={agent} current={contextId} onChoose={choose} />
        </nav>
        <header>
          <Button label={texts.conversations} sign="☰" aria-expanded={isOpen} onClick={toggle} />
          <h1 dir="auto">{name}</h1>
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
          {agent && <Composer talk={talk} text={text} onText={setText} field={field} />}
        </footer>
      </div>
    </ChatContext.Provider>
  );
}

type Page = { toEnd(): void; write(text: string): void };

/** What parts of the chat use: one object, so that a chunk renders its own task only. */
function useChatUse(talk: UsedConversation, texts: ChatTexts, page: Page) {
  const latest = useRef({ talk, page });
  latest.current = { talk, page };
  useEffect(() => {
    if (talk.contextId !== undefined) setHash(talk.contextId);
  }, [talk.contextId]);
  return useMemo<ChatUse>(
    () => ({
      texts,
      answer: (values) => latest.current.talk.answer(values),
      edit: (message) => latest.current.page.write(textOf(message)),
      send(message) {
        latest.current.page.toEnd();
        // A message that fails stays, and says why.
        void latest.current.talk.send(message).catch(() => {});
      },
    }),
    [texts],
  );
}

/** So many tasks are shown at first, and added by each press. */
const pageSize = 20;

/** The tasks, and the messages that are in none. */
function Log({ talk: { tasks, sent, connection, error } }: { readonly talk: UsedConversation }) {
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

interface ConversationsProps {
  readonly agent: AgentClient | undefined;
  readonly current: string | undefined;
  readonly onChoose: (contextId: string) => void;
}

/** The conversations of the newest tasks, called by their first words; a mark shows those that run or ask. */
function Conversations({ agent, current, onChoose }: ConversationsProps) {
  const { texts } = useContext(ChatContext);
  const { tasks } = useTasks(agent, { pageSize: 100 });
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  const ids = [...new Set(tasks.flatMap(({ contextId }) => contextId ?? []))];
  const unnamed = ids.find((id) => !titles.has(id));
  // A list has no messages: the oldest known task of each conversation is read, once.
  const first = tasks.findLast(({ contextId }) => contextId === unnamed)?.id;
  useEffect(() => {
    if (!agent || !first || !unnamed) return;
    const read = agent.getTask({ id: first }).then(({ history }) => textOf(history?.[0]).slice(0, 80));
    const name = (title: string) => setTitles((before) => new Map(before).set(unnamed, title));
    void read.catch(() => '').then((words) => name(words || texts.message));
  }, [agent, first, unnamed, texts]);
  return (
    <ul>
      {ids.map((id) => (
        <li key={id} dir="auto" data-state={tasks.find(({ contextId }) => contextId === id)?.status.state}>
          <Button label={titles.get(id) ?? '…'} aria-current={id === current} onClick={() => onChoose(id)} />
        </li>
      ))}
    </ul>
  );
}

interface ComposerProps {
  readonly talk: UsedConversation;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

/** The field of the message, and what it is about: Enter sends, Shift+Enter begins a line. */
function Composer({ talk, text, onText, field }: ComposerProps) {
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
