import { useEffect, useState } from 'preact/hooks';
import type { Overview } from '../../api/agent.ts';
import { get } from './api.ts';

/** How often the counts are read again, in milliseconds. */
const everyMs = 3_000;

/** How many tasks of each agent are open, as long as the page can be seen. */
export function useOverview(): Overview {
  const [overview, setOverview] = useState<Overview>({});
  useEffect(() => {
    const read = () => {
      if (document.hidden) return;
      // What was known stays until the inspector answers again.
      get<Overview>('/overview').then(setOverview, () => {});
    };
    read();
    const timer = setInterval(read, everyMs);
    return () => clearInterval(timer);
  }, []);
  return overview;
}
