import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimelineUpdate } from '../../api/timeline.ts';
import { queryOf } from '../data/api.ts';
import { openFeed } from '../data/feed.ts';
import { useSession } from '../data/session.ts';
import { Timeline } from './timeline.ts';

/** The state of a timeline's feed. */
export type TimelineState = 'loading' | 'live' | 'lost';

/** The timeline of a task, which grows while it happens. After a lost connection it goes on where it was. */
export function useTimeline(agent: string, task: string, scope: number) {
  const { onFeed } = useSession();
  const [timeline] = useState(() => new Timeline());
  const [, setVersion] = useState(0);
  const [state, setState] = useState<TimelineState>('loading');
  const [problem, setProblem] = useState<string>();
  const report = useRef(onFeed);
  report.current = onFeed;

  useEffect(() => {
    timeline.clear();
    setProblem(undefined);
    setState('loading');
    let source: string | undefined;
    let isLost = false;
    let drawing = 0;
    // Many entries may arrive in one frame.
    const draw = () => {
      drawing ||= requestAnimationFrame(() => {
        drawing = 0;
        setVersion(timeline.version);
      });
    };
    const connection = (state: 'lost' | 'resumed', after?: string) => {
      const notice = {
        type: 'connection' as const,
        link: 'inspector' as const,
        state,
        ...(after && { after }),
      };
      timeline.add([{ seq: timeline.seq, at: new Date().toISOString(), notice }]);
    };
    const base = `/agents/${encodeURIComponent(agent)}/tasks/${encodeURIComponent(task)}/timeline`;
    const close = openFeed<TimelineUpdate>({
      path: () => base + queryOf({ after: timeline.seq, scope, source }),
      onState(feed) {
        report.current(feed);
        if (feed !== 'lost' || isLost) return;
        isLost = true;
        setState('lost');
        if (timeline.rows.length > 0) connection('lost');
        draw();
      },
      onValue(update) {
        if (update.type === 'open') {
          if (update.isAnew) timeline.clear();
          else if (isLost && timeline.rows.length > 0)
            connection('resumed', `${update.kind === 'log' ? 'position' : 'entry'} ${timeline.seq}`);
          source = update.source;
          isLost = false;
          setProblem(undefined);
        }
        if (update.type === 'entries') timeline.add(update.entries);
        if (update.type === 'live') setState('live');
        if (update.type === 'problem') {
          setProblem(update.message);
          setState('live');
        }
        draw();
      },
    });
    return () => {
      close();
      cancelAnimationFrame(drawing);
    };
  }, [agent, task, scope, timeline]);

  return { timeline, state, problem };
}
