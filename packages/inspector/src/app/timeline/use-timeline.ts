import { useEffect, useState } from 'preact/hooks';
import type { Beside, TimelineUpdate } from '../../api/timeline.ts';
import { agentPath, queryOf } from '../data/api.ts';
import { useFeeds } from '../data/session.ts';
import { Timeline } from './timeline.ts';

/** The state of a timeline's feed. */
export type TimelineState = 'loading' | 'live' | 'lost';

/** A timeline as the page draws it. */
interface Drawn {
  /** That of the timeline: it grows in place. */
  readonly version: number;
  readonly state: TimelineState;
  readonly problem?: string | undefined;
  readonly beside?: Beside | undefined;
}

const nothing: Drawn = { version: 0, state: 'loading' };

/** The timeline of a task, which grows while it happens. After a lost connection it goes on where it was. */
export function useTimeline(agent: string, task: string, scope: number) {
  const openFeed = useFeeds();
  const [timeline] = useState(() => new Timeline());
  const [drawn, setDrawn] = useState(nothing);

  useEffect(() => {
    timeline.clear();
    setDrawn(nothing);
    const now: { -readonly [Name in keyof Drawn]: Drawn[Name] } = { ...nothing };
    let source: string | undefined;
    let isLost = false;
    let drawing = 0;
    /** How much the clock of the inspector is ahead of that of this browser, in milliseconds. */
    let ahead = 0;
    // Many entries may arrive in one frame. The past of a task is drawn once, when all of it is there.
    const draw = () => {
      if (now.state === 'loading') return;
      drawing ||= requestAnimationFrame(() => {
        drawing = 0;
        setDrawn({ ...now, version: timeline.version });
      });
    };
    const connection = (state: 'lost' | 'resumed', after?: string) => {
      const notice = { type: 'connection' as const, link: 'inspector' as const, state };
      timeline.add([
        {
          seq: timeline.seq,
          at: new Date(Date.now() + ahead).toISOString(),
          notice: { ...notice, ...(after && { after }) },
        },
      ]);
    };
    const receive = (update: TimelineUpdate) => {
      switch (update.type) {
        case 'open':
          ahead = update.now - Date.now();
          if (update.isRestart) timeline.clear();
          else if (isLost && timeline.rows.length > 0)
            connection('resumed', `${update.kind === 'log' ? 'position' : 'entry'} ${timeline.seq}`);
          source = update.source;
          isLost = false;
          now.problem = undefined;
          return;
        case 'entries':
          timeline.add(update.entries);
          return;
        case 'beside':
          now.beside = update.beside;
          return;
        case 'problem':
          now.problem = update.message;
          break;
        case 'live':
      }
      now.state = 'live';
    };
    const base = agentPath(agent, 'tasks', task, 'timeline');
    const close = openFeed<TimelineUpdate>({
      path: () => base + queryOf({ after: timeline.seq, scope, source }),
      onState(feed) {
        if (feed !== 'lost' || isLost) return;
        isLost = true;
        now.state = 'lost';
        if (timeline.rows.length > 0) connection('lost');
        draw();
      },
      onRefused({ message }) {
        now.state = 'live';
        now.problem = message;
        draw();
      },
      onValue(update) {
        receive(update);
        draw();
      },
    });
    return () => {
      close();
      cancelAnimationFrame(drawing);
    };
  }, [agent, task, scope, timeline, openFeed]);

  return { timeline, ...drawn };
}
