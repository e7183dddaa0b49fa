import { useEffect, useState } from 'preact/hooks';
import type { TaskList } from '../../api/task.ts';
import { get, queryOf } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useSession } from '../data/session.ts';
import { shortId, stateName } from '../parts/words.ts';
import type { PaletteChoice } from './choices.ts';

/** Fewer letters find too much. */
const fewestLetters = 2;
/** Tasks are looked for when no letter was typed for so long, in milliseconds. */
const searchAfterMs = 200;
/** How many tasks of each agent are shown. */
const mostOfEach = 5;

/** The tasks that a text is found in, of the agents whose stores the inspector has. */
export function useFoundTasks(text: string): readonly PaletteChoice[] {
  const { agents } = useSession();
  const [found, setFound] = useState<readonly PaletteChoice[]>([]);
  useEffect(() => {
    if (text.length < fewestLetters) {
      setFound([]);
      return;
    }
    const left = new AbortController();
    const timer = setTimeout(async () => {
      const lists = await Promise.all(
        agents
          .filter(({ hasStore }) => hasStore)
          .map(async ({ id, name }) => {
            const path = `/agents/${encodeURIComponent(id)}/tasks${queryOf({ text })}`;
            // An agent that cannot be searched has nothing to show.
            const list = await get<TaskList>(path, left.signal).catch(() => undefined);
            return (list?.tasks ?? []).slice(0, mostOfEach).map(
              (task): PaletteChoice => ({
                name: task.title ?? shortId(task.id),
                note: `${name} · ${stateName(task.state)}`,
                icon: 'message',
                href: hrefOf(id, 'tasks', task.id),
              }),
            );
          }),
      );
      if (!left.signal.aborted) setFound(lists.flat());
    }, searchAfterMs);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [text, agents]);
  return found;
}
