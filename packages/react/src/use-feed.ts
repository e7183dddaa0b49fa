import { useSyncExternalStore } from 'react';
import type { Feed } from './feeds/feed.ts';

/** The value of a feed; `idle` without a feed, and while the page is rendered on a server. */
export const useFeed = <Value>(feed: Feed<Value> | undefined, idle: Value): Value =>
  useSyncExternalStore(feed?.subscribe ?? never, feed?.get ?? (() => idle), () => idle);

const never = () => () => {};
