import { describeTaskStore } from '@batonjs/store-conformance';
import { keyValueStore } from './key-value-store.ts';
import { openDatabase } from './open-database.ts';

describeTaskStore('keyValueStore', () => {
  const database = openDatabase();
  return { store: keyValueStore(database), second: keyValueStore(database) };
});
