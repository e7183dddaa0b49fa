import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { mapStore, Tables } from './map-store.ts';

const open = () => {
  const tables = new Tables();
  return { store: mapStore(tables), second: mapStore(tables) };
};

describeTaskStore('mapStore', open);
describePushConfigStore('mapStore', open);
