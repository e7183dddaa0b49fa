import { folderFiles } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { artifact, completed, createAgentServer, file } from '../../src/index.ts';
import { large, raw, send } from './serve-files.ts';

/**
 * A process of its own that kills itself between the two writes, or beside them: `put` while bytes are written, `commit`
 * when they are durable and no fact names them yet, `named` when the fact is written and nobody heard of it.
 */
const [folder = '', dies = '', whose = ''] = process.argv.slice(2);
const die = () => process.kill(process.pid, 'SIGKILL');
const kept = folderFiles(`${folder}/files`);
const tasks = sqliteStore(`${folder}/tasks.db`);
let isFile = false;
let isArmed = false;
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests', defaultInputModes: ['*/*'] },
  agent: async function* () {
    isArmed = whose === 'agent';
    yield artifact('a', file(large('made')));
    yield completed();
  },
  publicUrl: 'http://localhost/agent',
  authenticate: () => ({ scope: 'ana' }),
  files: {
    store: {
      ...kept,
      async put(key, bytes) {
        const dying = async function* () {
          for await (const chunk of bytes) {
            // More than is buffered, so that it is being written.
            yield chunk.slice(0, 90_000);
            if (isArmed && dies === 'put') die();
            yield chunk.slice(90_000);
          }
        };
        await kept.put(key, dying());
        isFile = isArmed;
      },
    },
  },
  store: new Proxy(tasks, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'commit') return member.bind(target);
      return async (commit: Parameters<typeof tasks.commit>[0]) => {
        if (isFile && dies === 'commit') die();
        const done = await tasks.commit(commit);
        if (isFile && dies === 'named') die();
        return done;
      };
    },
  }),
});
isArmed = whose === 'client';
await send(server, [{ raw: raw(large('sent')), mediaType: 'image/png' }], { messageId: 'once' });
