import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { memoryStore } from '@batonjs/store-memory';

/** On a clock that is moved by hand: the suite waits for nothing. */
function open() {
  let time = Date.UTC(2031, 0, 1);
  const now = () => time;
  const advance = (ms: number) => {
    time += ms;
  };
  return { store: memoryStore({ now, monotonic: now }), now, advance };
}

describeTaskStore('memoryStore', open, { runs: 5 });
describePushConfigStore('memoryStore', open);
