import { type AgentClient, textOf } from '@batonjs/client';
import { useConversation } from '@batonjs/react';
import { useEffect, useState } from 'react';

/** The conversation whose id is in the address: a reload and a second tab show the same. */
export function Chat({ agent }: { readonly agent: AgentClient }) {
  const [text, setText] = useState('');
  const [start] = useState(() => location.hash.slice(1) || undefined);
  const { tasks, sent, current, contextId, connection, send, cancel } = useConversation(agent, start);
  useEffect(() => {
    if (contextId) location.hash = contextId;
  }, [contextId]);
  return (
    <main>
      <h1>{agent.card.name}</h1>
      {connection === 'reconnecting' && <p role="status">Offline: the answer goes on without you</p>}
      {tasks.map((task) => (
        <article key={task.id}>
          <p>You: {textOf(task.history?.[0])}</p>
          {task.artifacts?.map((artifact) => (
            <p key={artifact.artifactId}>{textOf(artifact)}</p>
          ))}
        </article>
      ))}
      {sent.map(({ message, state }) => (
        <p key={message.messageId}>
          You: {textOf(message)} ({state})
        </p>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send(text).catch(console.error);
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        {current && (
          <button type="button" onClick={() => cancel()}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}
