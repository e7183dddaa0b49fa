import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { sqliteStore } from '@batonjs/store-sqlite';

/** In memory, on a clock that is moved by hand: the suite waits for nothing. */
function open() {
  let time = Date.UTC(2026, 0, 1);
  const now = () => time;
  const advance = (ms: number) => {
    time += ms;
  };
  return { store: sqliteStore(':memory:', { now, monotonic: now, textSearch: true }), now, advance };
}

describeTaskStore('sqliteStore', open, { runs: 5 });
describePushConfigStore('sqliteStore', open);
