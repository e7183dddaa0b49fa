import { expect, it } from 'vitest';
import { listen } from '../../../../../test/kit/listen.ts';
import { allowList } from '../../../src/webhooks/address-policy/address-policy.ts';
import { lookUpHost } from '../../../src/webhooks/address-policy/resolve-host.ts';
import { AddressRefused, addressPolicy, fetchFile, safeFetch } from '../../../src/webhooks/address-policy.ts';

const { signal } = new AbortController();

it('a listed name may lead anywhere, another one only to addresses that are public or listed', async () => {
  const resolve = async () => ['10.0.0.5', '93.184.216.34'];
  const policy = addressPolicy({ allow: ['inside.example:8080', '10.0.0.0/24:9090'], resolve });
  const addresses = async (url: string) =>
    policy.destination(url, signal).then(
      (destination) => destination.addresses,
      (error) => AddressRefused.is(error),
    );
  expect(await addresses('http://inside.example:8080/')).toEqual(['10.0.0.5', '93.184.216.34']);
  expect(await addresses('http://other.example:9090/')).toEqual(['10.0.0.5', '93.184.216.34']);
  expect(await addresses('http://inside.example:8081/')).toBe(true);
  expect(await addresses('http://other.example:8080/')).toBe(true);
});

it('an address in a URL is the address that is connected to, without its brackets', async () => {
  const policy = addressPolicy();
  for (const [url, host] of [
    ['https://93.184.216.34/', '93.184.216.34'],
    ['https://[2606:2800:220:1::1946]/', '2606:2800:220:1::1946'],
  ] as const)
    expect(await policy.destination(url, signal)).toMatchObject({ host, addresses: [host] });
});

it('a listed name is resolved as other programs of the machine do it', async () => {
  const local = ['127.0.0.1', '::1'];
  for (const addresses of [
    await lookUpHost('localhost', signal),
    (await addressPolicy({ allow: ['localhost'] }).destination('http://localhost:1/', signal)).addresses,
  ]) {
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(local).toContain(address);
  }
});

it('a name with a dot at its end is the same name, to the list and to the server', async () => {
  const policy = addressPolicy({ allow: ['inside.example'], resolve: async () => ['10.0.0.5'] });
  expect(await policy.destination('http://inside.example./', signal)).toMatchObject({
    ...{ host: 'inside.example', addresses: ['10.0.0.5'] },
  });
});

it('the ports of a list are from 1 to 65,535', () => {
  for (const port of [1, 80, 65_535]) {
    const list = allowList([`inside.example:${port}`]);
    expect([list.coversName('inside.example', port), list.coversName('inside.example', 2)]).toEqual([
      true,
      false,
    ]);
  }
  for (const port of ['0', '65536', '99999'])
    expect(() => allowList([`inside.example:${port}`])).toThrow(
      `\`allow\` cannot have 'inside.example:${port}'; it takes entries such as 'localhost:8080'`,
    );
});

it('a request ends when its caller leaves, before and while its server is silent', async () => {
  const asked = Promise.withResolvers<void>();
  const url = await listen(() => asked.resolve());
  const options = { allow: ['127.0.0.1'] };
  const reason = new Error('The caller left');
  await expect(safeFetch(url, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const caller = new AbortController();
  const sent = safeFetch(url, { ...options, signal: caller.signal });
  await asked.promise;
  caller.abort(reason);
  await expect(sent).rejects.toBe(reason);
});

it('a file that cannot be fetched says to clients why in general, and to the log what happened', async () => {
  const failing = await listen((_, response) => response.writeHead(503).end());
  const prefix = 'The file cannot be fetched:';
  const failure = (url: string) =>
    fetchFile(url, { allow: ['127.0.0.1'] }).then(
      () => undefined,
      ({ reason, message, cause }) => [reason, message, (cause as Error).message],
    );
  expect(await failure(failing)).toEqual([
    'INVALID_PARAMS',
    `${prefix} its server did not deliver it`,
    'Its server answered 503',
  ]);
  expect(await failure('http://10.0.0.1/')).toEqual([
    'INVALID_PARAMS',
    `${prefix} its URL must lead to a public address`,
    'must lead to a public address',
  ]);
});
