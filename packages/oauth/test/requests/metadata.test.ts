import { describe, expect, it } from 'vitest';
import { oauth } from '../../src/index.ts';
import {
  authority,
  cardWith,
  issuer,
  login,
  metadata,
  requestTo,
  token,
  tokenUrl,
  withFlow,
} from './authority.ts';

const machine = { clientSecret: 'secret' };

describe('a failure to get a token', () => {
  it('is no reason not to try again', async () => {
    let count = 0;
    const answer = () => (count++ === 0 ? new Response(null, { status: 500 }) : token('new'));
    const server = authority({ ...metadata(), [tokenUrl]: answer });
    const clients = { [issuer]: { clientId: 'me', ...machine } };
    const credentials = oauth({ clients, fetch: server.fetch });
    const ask = async () => (await credentials(requestTo(cardWith(login))))?.authorization;
    await expect(Promise.all([ask(), ask()])).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    expect(count).toBe(1);
    expect(await ask()).toBe('Bearer new');
    expect(await ask()).toBe('Bearer new');
    expect(count).toBe(2);
  });

  it('of a scheme that needs what there is not leaves the next scheme, and is the error if there is none', async () => {
    const server = authority({ [tokenUrl]: token('new'), ...metadata() });
    const schemes = (...flows: string[]) =>
      ({
        securitySchemes: Object.fromEntries(flows.map((flow) => [flow, withFlow(flow)])),
        securityRequirements: flows.map((flow) => ({ schemes: { [flow]: { list: [] } } })),
      }) as never;
    const ask = (client: object, ...flows: string[]) =>
      Promise.resolve(
        oauth({ clients: { [tokenUrl]: { clientId: 'me', ...client } }, fetch: server.fetch })(
          requestTo(schemes(...flows)),
        ),
      );
    expect(await ask(machine, 'deviceCode', 'clientCredentials')).toEqual({ authorization: 'Bearer new' });
    await expect(ask({}, 'deviceCode', 'authorizationCode')).rejects.toMatchObject({
      code: 'NO_FLOW',
      message: 'The scheme deviceCode of the card needs `showDeviceCode`',
    });
    const failing = oauth({
      clients: { [tokenUrl]: { clientId: 'me', ...machine } },
      fetch: authority().fetch,
    });
    await expect(
      Promise.resolve(failing(requestTo(schemes('clientCredentials', 'deviceCode')))),
    ).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
  });
});

describe('the metadata of an issuer', () => {
  const ask = async (times: readonly number[], answers: object) => {
    const clock = { ms: 0 };
    const server = authority({ [tokenUrl]: token('x', { expires_in: 0 }), ...answers });
    const clients = { [issuer]: { clientId: 'me', ...machine } };
    const credentials = oauth({ clients, fetch: server.fetch, now: () => clock.ms });
    const outcomes: (string | undefined)[] = [];
    for (const ms of times) {
      clock.ms = ms;
      outcomes.push(
        await Promise.resolve(credentials(requestTo(cardWith(login)))).then(
          (headers) => headers?.authorization,
          ({ code }) => code,
        ),
      );
    }
    return { outcomes, reads: server.urls().filter((url) => url !== tokenUrl).length };
  };

  it('is read once an hour', async () => {
    expect((await ask([0, 3_599_999], metadata())).reads).toBe(1);
    expect((await ask([0, 3_600_000], metadata())).reads).toBe(2);
    expect((await ask([0, 3_600_000, 7_199_999], metadata())).reads).toBe(2);
  });

  it('is read again if it could not be read', async () => {
    const [[url = '', whole] = []] = Object.entries(metadata());
    let count = 0;
    const answers = { [url]: () => (count++ === 0 ? new Response(null, { status: 500 }) : whole) };
    expect(await ask([0, 0, 0], answers)).toEqual({
      outcomes: ['METADATA', 'Bearer x', 'Bearer x'],
      reads: 2,
    });
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'device_authorization_endpoint'])(
    'has a safe %s',
    async (name) => {
      const server = authority(metadata({ [name]: 'http://id.example/x' }));
      const credentials = oauth({
        clients: { [issuer]: { clientId: 'me', ...machine } },
        fetch: server.fetch,
      });
      await expect(Promise.resolve(credentials(requestTo(cardWith(login))))).rejects.toMatchObject({
        code: 'INSECURE_URL',
        message: `The ${name} of ${issuer} must be https`,
      });
      expect(server.asked).toHaveLength(1);
    },
  );
});
