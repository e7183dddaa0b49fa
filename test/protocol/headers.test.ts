import { reply } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { say } from '../kit/rpc.ts';
import { everywhere, onEveryAdapter, type Peer } from './peer.ts';

const uri = (name: string) => `https://example.com/extensions/${name}/v1`;
const extensions = [{ uri: uri('a') }, { uri: uri('b') }];
const card = { name: 'Row', description: 'For tests', capabilities: { extensions } };

const ask = async ({ fetch }: Peer, headers: [string, string][], query = '') => {
  const response = await fetch(`/tasks${query}`, { headers });
  return { status: response.status, extensions: response.headers.get('a2a-extensions') };
};
const activated = (...names: string[]) => ({ status: 200, extensions: names.map(uri).join(', ') || null });

onEveryAdapter('Service parameters', (serve) => {
  const version: [string, string] = ['A2A-Version', '1.0'];

  it('takes names in any case, values as they are [R-HDR-01]', async () => {
    const peer = await serve(() => reply('Hi'), { card });
    expect(
      await ask(peer, [
        ['a2a-VERSION', '1.0'],
        ['a2A-extensions', uri('a')],
      ]),
    ).toEqual(activated('a'));
    expect(await ask(peer, [version, ['A2A-Extensions', uri('a').toUpperCase()]])).toEqual(activated());
  });

  it('reads several values, from one header or several, with blanks and gaps [R-HDR-02]', async () => {
    const peer = await serve(() => reply('Hi'), { card });
    const one = ` ${uri('b')} ,, ${uri('a')},`;
    expect(await ask(peer, [version, ['A2A-Extensions', one]])).toEqual(activated('b', 'a'));
    const two: [string, string][] = [
      ['A2A-Extensions', uri('a')],
      ['A2A-Extensions', uri('b')],
    ];
    expect(await ask(peer, [version, ...two])).toEqual(activated('a', 'b'));
  });

  it('reads the name that 0.3 used too [R-HDR-03]', async () => {
    const peer = await serve(() => reply('Hi'), { card });
    expect(await ask(peer, [version, ['X-A2A-Extensions', uri('a')]])).toEqual(activated('a'));
  });

  it('says which extensions are active, also on streams [R-HDR-04]', async () => {
    let active: readonly string[] = [];
    const peer = await serve(
      (turn) => {
        active = turn.extensions;
        return reply('Hi');
      },
      { card },
    );
    const headers = {
      'a2a-version': '1.0',
      'a2a-extensions': `${uri('b')}, ${uri('unknown')}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ message: say('hi') });
    const response = await peer.fetch('/message:stream', { method: 'POST', headers, body });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('a2a-extensions')).toBe(uri('b'));
    await response.text();
    expect(active).toEqual([uri('b')]);
    expect((await ask(peer, [version])).extensions).toBeNull();
  });
});

everywhere('Required extensions', (serve) => {
  it('are asked of every operation, and named [R-OP-08]', async () => {
    const required = {
      name: 'Row',
      description: 'x',
      capabilities: { extensions: [{ uri: uri('a'), required: true }, { uri: uri('b') }] },
    };
    const { call } = await serve(() => reply('Hi'), { card: required });
    const refused = { reason: 'EXTENSION_SUPPORT_REQUIRED', message: expect.stringContaining(uri('a')) };
    await expect(call('SendMessage', { message: say('hi') })).rejects.toMatchObject(refused);
    await expect(call('ListTasks', {}, { 'a2a-extensions': uri('b') })).rejects.toMatchObject(refused);
    expect(await call('SendMessage', { message: say('hi') }, { 'a2a-extensions': uri('a') })).toHaveProperty(
      'message',
    );
  });
});

describe('Versions', () => {
  everywhere('A request', (serve) => {
    it('without a version is one of 0.3, which is not spoken here [R-VER-02] [R-VER-03] [R-ERR-10]', async () => {
      const { call } = await serve(() => reply('Hi'));
      for (const version of ['', ' ', '0.3', '0.3.0'])
        await expect(call('ListTasks', {}, { 'a2a-version': version })).rejects.toMatchObject({
          reason: 'VERSION_NOT_SUPPORTED',
          metadata: { requestedVersion: '0.3', supportedVersions: '1.0' },
        });
      for (const version of ['1.1', '2.0', 'x'])
        await expect(call('ListTasks', {}, { 'a2a-version': version })).rejects.toMatchObject({
          metadata: { requestedVersion: version },
        });
    });

    it('may name a patch, which does not count [R-VER-04]', async () => {
      const { call, binding } = await serve(() => reply('Hi'));
      // HTTP/2 drops a header whose value begins or ends with a blank.
      const withBlanks = binding === 'GRPC' ? [] : [' 1.0 '];
      for (const version of ['1.0', '1.0.0', '1.0.7', ...withBlanks])
        expect(await call('ListTasks', {}, { 'a2a-version': version })).toHaveProperty('tasks');
    });
  });

  onEveryAdapter('In a query', (serve) => {
    it('the version counts, in any case, unless the header says one [R-VER-05]', async () => {
      const peer = await serve(() => reply('Hi'));
      const status = async (query: string, ...headers: [string, string][]) =>
        (await ask(peer, headers, query)).status;
      expect(await status('')).toBe(400);
      expect(await status('?A2A-Version=1.0')).toBe(200);
      expect(await status('?a2a-version=1.0.3')).toBe(200);
      expect(await status('?a2a-version=2.0')).toBe(400);
      expect(await status('?a2a-version=2.0', ['A2A-Version', '1.0'])).toBe(200);
      expect(await status('?a2a-version=1.0', ['A2A-Version', '2.0'])).toBe(400);
    });
  });
});
