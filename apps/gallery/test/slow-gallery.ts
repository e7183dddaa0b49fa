// A gallery whose only agent works until a file exists: for tests of what happens to it meanwhile.
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { artifact, completed, type Turn, working } from '@batonjs/server';
import { startGallery } from '../src/start-gallery.ts';

async function* untilReleased({ text: file, signal }: Turn) {
  yield working(`Waiting for ${file}`);
  const watcher = watch(dirname(file), { signal });
  while (!existsSync(file)) await once(watcher, 'change');
  watcher.close();
  yield artifact('result', 'Released');
  yield completed();
}

const card = { name: 'Slow', description: 'Works until a file exists', skills: [] };
const greeter = {
  name: 'greeter',
  card: { ...card, name: 'Greeter' },
  agent: async function* () {
    yield completed('Hello');
  },
};
await startGallery([greeter, { name: 'slow', agent: untilReleased, card }], process.env);
