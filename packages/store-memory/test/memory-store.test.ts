import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { memoryStore } from '../src/index.ts';

const onRealClock = () => ({ store: memoryStore() });

const onItsOwnClock = () => {
  let time = Date.UTC(2031, 0, 1);
  const now = () => time;
  const advance = (ms: number) => {
    time += ms;
  };
  return { store: memoryStore({ now, monotonic: now }), now, advance };
};

for (const [name, open] of [
  ['memoryStore', onRealClock],
  ['memoryStore on its own clock', onItsOwnClock],
] as const) {
  describeTaskStore(name, open, { runs: repetitions(10, 100) });
  describePushConfigStore(name, open);
}
