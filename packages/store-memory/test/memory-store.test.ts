import { describeTaskStore } from '@batonjs/store-conformance';
import { memoryStore } from '../src/index.ts';

describeTaskStore('memoryStore', () => ({ store: memoryStore() }));

describeTaskStore('memoryStore on another clock', () => {
  let time = Date.UTC(2031, 0, 1);
  const now = () => time;
  return {
    store: memoryStore({ now }),
    now,
    advance: (ms) => {
      time += ms;
    },
  };
});
