import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter, untilItWorks } from '../../../test/kit/task-logs.ts';
import { authorityOf, certificateOf } from '../../../test/support/certificate.ts';
import { canStartEtcd, type EtcdClusterOptions, startEtcd } from '../../../test/support/etcd.ts';
import { type EtcdStoreOptions, etcdStore } from '../src/index.ts';

const canStart = await canStartEtcd();

async function start(options: EtcdClusterOptions) {
  const cluster = await startEtcd({ members: 1, inMemory: true, ...options });
  onTestFinished(() => cluster.stop());
  return cluster;
}

function open(urls: readonly string[], options: EtcdStoreOptions = {}) {
  const store = etcdStore(urls, options);
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(!canStart)('A cluster that wants TLS', () => {
  it('is reached with certificates, and not without them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'baton-etcd-tls-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const authority = authorityOf('authority.example');
    const [server, client] = ['etcd.example', 'agent.example'].map((name) => authority.issue(name));
    const [cert, key, clientCa] = ['cert.pem', 'key.pem', 'ca.pem'].map((name) => join(folder, name));
    await writeFile(cert!, server!.cert);
    await writeFile(key!, server!.key);
    await writeFile(clientCa!, authority.cert);
    const { urls } = await start({ tls: { cert: cert!, key: key!, clientCa: clientCa! } });
    const ca = authority.cert;
    const store = open(urls, { tls: { ca, ...client } });
    expect(await untilItWorks(() => store.commit(chunkAfter(0)))).toEqual({ version: 1 });
    for (const tls of [{ ca }, { ca, ...certificateOf('agent.example') }, undefined])
      await expect(open(urls, { tls, timeoutMs: 1_000 }).ping()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
  });
});

describe.skipIf(!canStart)('A cluster with users', () => {
  it('takes one that may read and write the prefix, also after its tokens are gone, and refuses others', async () => {
    const cluster = await start({});
    const [member] = cluster.members;
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const perm = { permType: 'READWRITE', key: base64('baton/'), range_end: base64('baton0') };
    for (const [path, body] of [
      ['auth/user/add', { name: 'root', password: 'secret' }],
      ['auth/role/add', { name: 'root' }],
      ['auth/user/grant', { user: 'root', role: 'root' }],
      ['auth/role/add', { name: 'agent' }],
      ['auth/role/grant', { name: 'agent', perm }],
      ['auth/user/add', { name: 'agent', password: 'p@ss' }],
      ['auth/user/grant', { user: 'agent', role: 'agent' }],
      ['auth/enable', {}],
    ] as const)
      expect(await member!.ask(path, body)).not.toHaveProperty('error');

    const urlOf = (login: string) => [member!.url.replace('://', `://${login}@`)];
    const store = open(urlOf('agent:p%40ss'));
    const quiet = open(urlOf('agent:p%40ss'));
    await quiet.ping();
    const versions: unknown[] = [];
    await store.commit(chunkAfter(0));
    await store.subscribe({ scope: 's', taskId: 't' }, (version) => versions.push(version));
    // A new password ends the tokens of the user, here as the same one.
    const { token } = await member!.ask('auth/authenticate', { name: 'root', password: 'secret' });
    const change = { name: 'agent', password: 'p@ss' };
    expect(await member!.ask('auth/user/changepw', change, String(token))).not.toHaveProperty('error');
    await member!.kill();
    member!.start();
    const writer = open(urlOf('agent:p%40ss'));
    await untilItWorks(() => writer.commit(chunkAfter(1)));
    await expect.poll(() => versions.at(-1)).toBe(2);
    expect(await store.commit(chunkAfter(2))).toEqual({ version: 3 });
    // No watch has told this one.
    expect(await quiet.load('s', 't')).toMatchObject({ version: 3 });

    const refused = { code: 'UNUSABLE', message: expect.stringContaining('refuses this user') };
    await expect(open(urlOf('agent:p%40ss'), { prefix: 'other' }).ping()).rejects.toMatchObject(refused);
    await expect(open([member!.url]).ping()).rejects.toMatchObject({
      message: expect.not.stringContaining('p@ss'),
    });
    const wrong = open(urlOf('agent:wrong'));
    await expect(wrong.ping()).rejects.toMatchObject({ message: expect.not.stringContaining('wrong') });
  });
});

describe('Options', () => {
  it.each<[string, readonly string[], EtcdStoreOptions]>([
    ['no URL', [], {}],
    ['another scheme', ['redis://127.0.0.1'], {}],
    ['no URL at all', ['127.0.0.1:2379'], {}],
    ['two schemes', ['http://a:2379', 'https://b:2379'], {}],
    ['an empty prefix', ['http://a:2379'], { prefix: '' }],
    ['a prefix that ends with a slash', ['http://a:2379'], { prefix: 'a/' }],
  ])('that cannot be used are refused at once: %s', (_what, urls, options) => {
    expect(() => etcdStore(urls, options)).toThrow(expect.objectContaining({ code: 'UNUSABLE' }));
  });
});
