import fc from 'fast-check';
import { expect, it } from 'vitest';
import { serveTwo, version } from './serve-uploads.ts';

type Step = 'patch' | 'die' | 'stale' | 'head' | 'part' | 'end';

it('keeps to a model of tus, in any order, over processes that die while they store', async () => {
  const step = fc.tuple(
    fc.constantFrom<Step>('patch', 'patch', 'die', 'stale', 'head', 'part', 'end'),
    fc.nat({ max: 40 }),
    fc.nat({ max: 2 }),
  );
  const run = async (length: number, steps: [Step, number, number][]) => {
    const [one, other] = await serveTwo();
    const { put, delete: remove } = one.files;
    /** How many writes are left to a process that dies. */
    let left = Number.POSITIVE_INFINITY;
    const alive = () => (left-- > 0 ? undefined : Promise.reject(new Error('It died')));
    const records = one.store.putRecord;
    Object.assign(one.files, {
      put: async (...args: Parameters<typeof put>) => (await alive()) ?? put(...args),
      delete: async (key: string) => (await alive()) ?? remove(key),
    });
    Object.assign(one.store, {
      putRecord: async (...args: Parameters<typeof records>) =>
        (await alive()) ?? records.apply(one.store, args),
    });
    const { url } = await one.begin(length);
    let [offset, content, isThere] = [0, '', true];
    for (const [kind, size, writes] of steps) {
      const at = size % 2 === 0 ? one : other;
      const bytes = `${size % 10}`.repeat(Math.min(size, length - offset));
      if (kind === 'patch' || kind === 'die') {
        if (kind === 'die') left = writes;
        const { status } = await at.patch(url, offset, bytes);
        left = Number.POSITIVE_INFINITY;
        if (kind === 'patch') expect(status).toBe(isThere ? 204 : 404);
        // What was stored before it died counts, if the record says so.
        const now = await other.offsetOf(url);
        const known = isThere ? [offset, offset + bytes.length].slice(kind === 'die' ? 0 : 1) : [404];
        expect(known).toContain(now);
        if (isThere && now > offset) [offset, content] = [now, content + bytes];
      } else if (kind === 'stale')
        expect((await at.patch(url, offset + 1 + writes, 'x')).status).toBe(isThere ? 409 : 404);
      else if (kind === 'head') expect(await at.offsetOf(url)).toBe(isThere ? offset : 404);
      else if (kind === 'end') {
        if (writes > 0) continue;
        expect((await at.ask('DELETE', url, version)).status).toBe(isThere ? 204 : 404);
        isThere = false;
      } else {
        if (isThere && offset === length && size % 3 === 0) {
          left = writes;
          await at.ask('GET', url, {});
          left = Number.POSITIVE_INFINITY;
        }
        const { status, text } = await at.ask('GET', url, {});
        expect(status).toBe(!isThere ? 404 : offset < length ? 409 : 200);
        if (status !== 200) continue;
        const { url: link } = JSON.parse(text);
        expect(await (await fetch(link.replace('http://localhost', at.origin))).text()).toBe(content);
      }
    }
    for (const { close } of [one, other]) await close();
  };
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 60 }), fc.array(step, { minLength: 3, maxLength: 14 }), run),
    { numRuns: 25 },
  );
});
