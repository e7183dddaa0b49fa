import { useEffect, useState } from 'preact/hooks';

/** The time in milliseconds since 1970, read again every few seconds, so that ages on the page grow. */
export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
