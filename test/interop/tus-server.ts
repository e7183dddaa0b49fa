/** Serves an agent that says the hash of a file it is sent, from a folder: `node tus-server.ts <folder> <port>`. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { completed, createAgentServer } from '@batonjs/server';
import { folderFiles, nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';

const [folder = '', port = ''] = process.argv.slice(2);
const server = createAgentServer({
  card: { name: 'hash', description: 'Hashes files', defaultInputModes: ['*/*'] },
  async *agent({ message, file }) {
    const hash = createHash('sha256');
    for await (const chunk of file(message.parts[0]!).stream()) hash.update(chunk);
    yield completed(hash.digest('hex'));
  },
  store: sqliteStore(join(folder, 'tasks.db')),
  publicUrl: `http://127.0.0.1:${port}`,
  files: { store: folderFiles(join(folder, 'files')) },
});
createServer(nodeHandler(server)).listen(Number(port), '127.0.0.1', () => console.log('ready'));
