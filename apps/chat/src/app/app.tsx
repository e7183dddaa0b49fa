/** @jsxImportSource react */
import { type AgentClient, textOf } from '@batonjs/client';
import { useConversation, useTasks } from '@batonjs/react';
import { type SubmitEvent, useEffect, useState } from 'react';
import { TaskView } from './task-view.tsx';

/** What the server says to the page. */
export interface Settings {
  /** The address of the agent. */
  readonly agent: string;
  readonly canKill: boolean;
}

const examples = ['Tell me a story', 'How is the weather?', 'Draw a boat', 'Delete the draft'];

/** The page: the conversation whose id is in its address, and the tasks so far. */
export function App({ agent, settings }: { readonly agent: AgentClient; readonly settings: Settings }) {
  const [contextId, setContextId] = useHash();
  const talk = useConversation(agent, contextId);
  const isRunning = talk.current !== undefined && !talk.current.status.state.endsWith('_REQUIRED');
  useEffect(() => {
    if (talk.contextId !== undefined && talk.contextId !== contextId) setContextId(talk.contextId);
  }, [talk.contextId, contextId, setContextId]);
  return (
    <div className="page">
      <header>
        <h1>Chat</h1>
        <p role="status" className={talk.connection}>
          {talk.connection === 'reconnecting' ? 'Offline: the answer goes on without you' : 'Online'}
        </p>
        {settings.canKill && <KillButton />}
      </header>
      <Tasks agent={agent} current={contextId} onChoose={setContextId} />
      <main>
        {talk.tasks.map((task) => (
          <TaskView key={task.id} task={task} onAnswer={talk.answer} />
        ))}
        {talk.sent.map(({ message, state }) => (
          <p key={message.messageId} className={`said ${state}`}>
            {textOf(message)}
            {state === 'failed' && (
              <button type="button" onClick={() => void talk.send(message)}>
                Send again
              </button>
            )}
          </p>
        ))}
      </main>
      <footer>
        <Composer onSend={(text) => void talk.send(text).catch(() => {})} isEmpty={talk.tasks.length === 0} />
        {isRunning && (
          <button type="button" className="stop" onClick={() => void talk.cancel()}>
            Stop
          </button>
        )}
      </footer>
    </div>
  );
}

function Composer({
  onSend,
  isEmpty,
}: {
  readonly onSend: (text: string) => void;
  readonly isEmpty: boolean;
}) {
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (text.trim() === '') return;
    onSend(text);
    setText('');
  };
  return (
    <form className="composer" onSubmit={submit}>
      {isEmpty &&
        examples.map((example) => (
          <button key={example} type="button" onClick={() => onSend(example)}>
            {example}
          </button>
        ))}
      <label htmlFor="message">Message</label>
      <input id="message" value={text} onChange={(event) => setText(event.target.value)} autoComplete="off" />
      <button type="submit">Send</button>
    </form>
  );
}

interface TasksProps {
  readonly agent: AgentClient;
  readonly current: string | undefined;
  readonly onChoose: (contextId: string | undefined) => void;
}

/** The conversations of the latest tasks. */
function Tasks({ agent, current, onChoose }: TasksProps) {
  const { tasks } = useTasks(agent, { pageSize: 30 });
  const contexts = [...new Set(tasks.flatMap(({ contextId }) => contextId ?? []))];
  return (
    <nav aria-label="Conversations">
      <button type="button" onClick={() => onChoose(undefined)}>
        New chat
      </button>
      <ul>
        {contexts.map((contextId) => {
          const own = tasks.filter((task) => task.contextId === contextId);
          const [state] = own.map(({ status }) => status.state.slice('TASK_STATE_'.length).toLowerCase());
          return (
            <li key={contextId}>
              <button
                type="button"
                aria-current={contextId === current ? 'page' : undefined}
                onClick={() => onChoose(contextId)}
              >
                {contextId.slice(-6)} · {own.length} {own.length === 1 ? 'task' : 'tasks'} ·{' '}
                {state?.replace('_', ' ')}
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** Kills the process of the server. Its parent starts it again. */
function KillButton() {
  const kill = () => fetch('kill', { method: 'POST', headers: { 'x-baton-chat': 'kill' } }).catch(() => {});
  return (
    <button type="button" className="kill" onClick={() => void kill()}>
      Kill the server
    </button>
  );
}

/** The id of the conversation, in the address: a reload and a second tab show the same. */
function useHash(): [string | undefined, (id: string | undefined) => void] {
  const [hash, setHash] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const onChange = () => setHash(location.hash.slice(1));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const [set] = useState(() => (id: string | undefined) => {
    location.hash = id ?? '';
  });
  return [hash || undefined, set];
}
