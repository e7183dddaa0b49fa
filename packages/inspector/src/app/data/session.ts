import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Action, AgentSummary, SessionInfo } from '../../api/agent.ts';
import { type ApiError, apiErrorOf, type FeedOptions, type FeedState, get, openFeed, post } from './api.ts';

/** What every page knows. */
export interface Session extends SessionInfo {
  /** Reads the list of agents and permissions again. */
  readonly refresh: () => void;
  /** The connection to the inspector is lost: nothing can be done until it is back. */
  readonly isLost: boolean;
  /** A feed began, was opened, was lost, or is over. */
  readonly onFeed: (state: FeedState | 'begun' | 'over') => void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session; only below a `SessionContext`. */
export const useSession = (): Session => useContext(SessionContext)!;

/** Whether the viewer may do something. */
export const useMay = (action: Action): boolean => useSession().may.includes(action);

export const useAgent = (id: string): AgentSummary | undefined =>
  useSession().agents.find((agent) => agent.id === id);

/** Opens feeds that tell the app whether its connection is lost, and whether it is still let in. */
export function useFeeds(): <T>(options: FeedOptions<T>) => () => void {
  const { onFeed, refresh } = useSession();
  const app = useRef({ onFeed, refresh });
  app.current = { onFeed, refresh };
  return useCallback(<T>({ onState, onRefused, ...options }: FeedOptions<T>) => {
    app.current.onFeed('begun');
    const close = openFeed<T>({
      ...options,
      onState(state) {
        app.current.onFeed(state);
        onState?.(state);
      },
      onRefused(error) {
        if (error.status === 401) app.current.refresh();
        onRefused?.(error);
      },
    });
    return () => {
      close();
      app.current.onFeed('over');
    };
  }, []);
}

/**
 * Reads a resource of the inspector, and again whenever the path changes; undefined reads nothing. With `everyMs`, it is
 * read again so many milliseconds after each answer while the page can be seen. Has its value, or the error of the last
 * try; `again` reads it again and keeps the value meanwhile.
 */
export function useGet<T>(path: string | undefined, everyMs?: number) {
  const [state, setState] = useState<{ path?: string | undefined; value?: T; error?: ApiError }>({});
  const [count, setCount] = useState(0);
  const again = () => setCount((n) => n + 1);
  useEffect(() => {
    if (path === undefined) return;
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      if (everyMs !== undefined && !left.signal.aborted)
        timer = setTimeout(() => (document.hidden ? wait() : again()), everyMs);
    };
    get<T>(path, left.signal)
      .then(
        (value) => setState({ path, value }),
        (error: unknown) => {
          if (left.signal.aborted) return;
          setState(({ value }) => ({
            path,
            error: apiErrorOf(error),
            ...(value !== undefined && { value }),
          }));
        },
      )
      .finally(wait);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [path, count]);
  const isCurrent = state.path === path;
  return { value: isCurrent ? state.value : undefined, error: isCurrent ? state.error : undefined, again };
}

/** Asks the inspector to do something, and keeps what it is asked for and how the last time failed. */
export function useAct() {
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<ApiError>();
  /** Resolves to the answer; to undefined if it failed. */
  const act = async <T = object>(path: string, body?: object): Promise<T | undefined> => {
    setBusy(path);
    setError(undefined);
    try {
      return await post<T>(path, body);
    } catch (failure) {
      setError(apiErrorOf(failure));
      return undefined;
    } finally {
      setBusy(undefined);
    }
  };
  return { act, busy, isBusy: busy !== undefined, error, problem: error?.problem };
}

/** The time in milliseconds since 1970, read again every few seconds, so that ages on the page grow. */
export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
