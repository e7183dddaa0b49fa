import { createServer } from 'node:http';
import { connect } from '@batonjs/client';
import { checkedFetch } from '@batonjs/server/address-policy';
import { expect, it } from 'vitest';
import { serveLeadingCard } from '../../../../../test/kit/http/card-that-leads.ts';
import { listen } from '../../../../../test/kit/listen.ts';

it('an agent leads a client with checked addresses nowhere inside, by its card or by a redirect', async () => {
  const inside = await serveLeadingCard();
  const careful = await connect(inside.url, { fetch: checkedFetch(inside.url), retry: false });
  await expect(careful.send('hello')).rejects.toThrow(/cannot be reached|The connection to/);
  const moved = await listen(
    createServer((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${inside.port}/latest/meta-data` }).end(),
    ),
  );
  await expect(connect(moved, { fetch: checkedFetch(moved), retry: false })).rejects.toThrow(
    /cannot be reached|The connection to/,
  );
  expect(inside.asked).toEqual([]);
  const fetch = checkedFetch(inside.url, { allow: [`127.0.0.1:${inside.port}`] });
  expect((await (await connect(inside.url, { fetch })).send('hello')).message).toBeDefined();
});
