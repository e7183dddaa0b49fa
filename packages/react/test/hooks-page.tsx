/** @jsxImportSource react */
import { type AgentClient, connect, textOf } from '@batonjs/client';
import { FORM_INPUT, formOf } from '@batonjs/extensions/client';
import { StrictMode, useEffect, useState } from 'react';
import { QuestionForm, useConversation, useTask, useTasks, useUpload } from '../src/index.ts';

/** What the test calls in the page. */
declare global {
  var mount: (url: string) => void;
  var unmount: () => void;
  var hydrate: (url: string) => void;
}

/** A page with all hooks, as an app would use them. */
export function App({ url }: { readonly url?: string }) {
  const agent = useAgent(url);
  const [contextId, setContextId] = useState<string>();
  const talk = useConversation(agent, contextId);
  const list = useTasks(agent, { pollMs: 3_600_000 });
  const latest = useTask(agent, talk.tasks.at(-1)?.id);
  const form = talk.current && formOf(talk.current);
  const upload = useUpload(agent);
  if (talk.contextId !== undefined && talk.contextId !== contextId) setContextId(talk.contextId);
  return (
    <main>
      <p role="status">{latest.connection}</p>
      <p id="listed">{list.tasks.map(({ status }) => status.state).join(' ')}</p>
      <ol>
        {talk.tasks.map((task) => (
          <li key={task.id}>
            {task.status.state} {textOf(task.artifacts?.[0])} {JSON.stringify(task.artifacts?.[0]?.parts[0])}
          </li>
        ))}
      </ol>
      {talk.sent.map(({ message, state }) => (
        <p key={message.messageId}>{state}</p>
      ))}
      {form && <QuestionForm key={form.formId} form={form} onAnswer={talk.answer} />}
      <button type="button" disabled={!agent} onClick={() => void talk.send('slow')}>
        Slow
      </button>
      <button type="button" disabled={!agent} onClick={() => void talk.send('ask')}>
        Ask
      </button>
      <button type="button" onClick={() => void latest.cancel()}>
        Cancel
      </button>
      <input type="file" disabled={!agent} onChange={({ target }) => upload.add(target.files ?? [])} />
      {upload.files.map(({ file, progress, part, error }) => (
        <button key={file.name} type="button" onClick={() => upload.remove(file)}>
          {file.name} {progress.toFixed(1)} {part ? `is ${part.filename}` : error ? 'failed' : 'goes on'}
        </button>
      ))}
    </main>
  );
}

function useAgent(url: string | undefined): AgentClient | undefined {
  const [agent, setAgent] = useState<AgentClient>();
  useEffect(() => {
    if (url === undefined) return;
    let isWanted = true;
    // Strict mode connects twice: one of them is enough.
    void connect(url, { extensions: [FORM_INPUT] }).then((connected) => {
      if (isWanted) setAgent(connected);
    });
    return () => {
      isWanted = false;
    };
  }, [url]);
  return agent;
}

/** The page as it is rendered on a server, in the browser and in Node.js. */
export const page = (url?: string) => (
  <StrictMode>
    <App {...(url !== undefined && { url })} />
  </StrictMode>
);
