/** @jsxImportSource react */
import { type AgentClient, textOf } from '@batonjs/client';
import { type KeyboardEvent, useContext, useEffect, useState } from 'react';
import { useTasks } from '../use-tasks.ts';
import { Button, ChatContext } from './parts.tsx';

interface ConversationsProps {
  readonly agent: AgentClient;
  readonly current: string | undefined;
  readonly onChoose: (contextId?: string) => void;
}

/** The conversations of the newest tasks, called by their first words; a mark shows those that run or ask. */
export function Conversations({ agent, current, onChoose }: ConversationsProps) {
  const { texts } = useContext(ChatContext);
  const { tasks } = useTasks(agent, { pageSize: 100 });
  const key = `baton-chat ${agent.interface.url}`;
  const [names, setNames] = useState(() => namesOf(key));
  const [titles, setTitles] = useState<Names>({});
  const [query, setQuery] = useState('');
  const [renamed, setRenamed] = useState<string>();
  const ids = [...new Set(tasks.flatMap(({ contextId }) => contextId ?? []))].filter(
    (id) => names[id] !== '',
  );
  const unnamed = ids.find((id) => titles[id] === undefined);
  // A list has no messages: the oldest known task of each conversation is read, once.
  const first = tasks.findLast(({ contextId }) => contextId === unnamed)?.id;
  useEffect(() => {
    if (!first || !unnamed) return;
    const read = agent.getTask({ id: first }).then(({ history }) => textOf(history?.[0]).slice(0, 80));
    const show = (title: string) => setTitles((before) => ({ ...before, [unnamed]: title }));
    void read.catch(() => '').then((words) => show(words || texts.message));
  }, [agent, first, unnamed, texts]);
  const titleOf = (id: string) => names[id] ?? titles[id] ?? '…';
  const found = ids.filter((id) => titleOf(id).toLowerCase().includes(query.trim().toLowerCase()));
  const keep = (change: Names) => setNames({ ...names, ...namesOf(key, change) });
  /** Without a name, it is called by its first words again. */
  const name = (id: string, name: string) => {
    setRenamed(undefined);
    if (name !== titleOf(id)) keep({ [id]: name || undefined });
  };
  const unlist = (id: string) => {
    keep({ [id]: '' });
    onChoose();
  };
  const onKeyDown = ({ key, currentTarget, nativeEvent }: KeyboardEvent<HTMLInputElement>) => {
    if (key === 'Escape') currentTarget.value = currentTarget.defaultValue;
    if (key === 'Escape' || (key === 'Enter' && !nativeEvent.isComposing)) currentTarget.blur();
  };
  return (
    <>
      {ids.length > 0 && (
        <input
          {...{ type: 'search', dir: 'auto', value: query, placeholder: texts.search }}
          aria-label={texts.search}
          onChange={({ target }) => setQuery(target.value)}
        />
      )}
      <ul>
        {found.map((id) => (
          <li key={id} dir="auto" data-state={tasks.find(({ contextId }) => contextId === id)?.status.state}>
            {renamed === id ? (
              <input
                {...{ defaultValue: titleOf(id), maxLength: 80, onKeyDown, 'aria-label': texts.rename }}
                ref={(field) => field?.select()}
                onBlur={({ target }) => name(id, target.value.trim())}
              />
            ) : (
              <Button label={titleOf(id)} aria-current={id === current} onClick={() => onChoose(id)} />
            )}
            {id === current && renamed !== id && (
              <>
                <Button label={texts.rename} sign="✎" onClick={() => setRenamed(id)} />
                <Button label={texts.unlist} sign="×" onClick={() => unlist(id)} />
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

type Names = Readonly<Record<string, string | undefined>>;

/** The names that this browser keeps, with a change; an empty one is that of a conversation that left the list. */
function namesOf(key: string, change: Names = {}): Names {
  try {
    const names = { ...JSON.parse(localStorage.getItem(key) ?? '{}'), ...change };
    localStorage.setItem(key, JSON.stringify(names));
    return names;
  } catch {
    // A browser that keeps nothing: the name stays as long as the page.
    return change;
  }
}
