/** @jsxImportSource react */
import { type AgentClient, textOf } from '@batonjs/client';
import { useContext, useEffect, useState } from 'react';
import { useTasks } from '../use-tasks.ts';
import { Button, ChatContext } from './parts.tsx';

interface ConversationsProps {
  readonly agent: AgentClient | undefined;
  readonly current: string | undefined;
  readonly onChoose: (contextId: string) => void;
}

/** The conversations of the newest tasks, called by their first words; a mark shows those that run or ask. */
export function Conversations({ agent, current, onChoose }: ConversationsProps) {
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
