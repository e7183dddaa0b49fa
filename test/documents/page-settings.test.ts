import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasNginx, nginx } from '../kit/http/nginx.ts';
import { freePort } from '../kit/processes.ts';
import { describePrograms } from './describe-programs.ts';
import { authenticate } from './page-programs.ts';

describePrograms('with authentication', async () => ({ port: await freePort(), usual: { authenticate } }));

describePrograms('with authentication and a worker', async () => ({
  port: await freePort(),
  usual: { authenticate },
  worker: true,
}));

describe.skipIf(!(await hasNginx()))('behind nginx', () => {
  const closing: (() => unknown)[] = [];
  let port: number;
  let proxy: string;
  beforeAll(async () => {
    port = await freePort();
    // Held meanwhile: nginx must not take it for itself.
    const held = createServer((_, response) => response.end()).listen(port, '127.0.0.1');
    await once(held, 'listening');
    const rules = `location / { proxy_pass http://127.0.0.1:${port}; }`;
    proxy = `http://${await nginx(rules, { atEnd: (close) => void closing.unshift(close) })}`;
    held.close().closeAllConnections();
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  describePrograms('with `publicUrl`', async () => ({ port, proxy }));
});
