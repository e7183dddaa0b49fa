import { decodeSse } from '@batonjs/bindings';
import { Broken, resultOf, type Seen, type Wire } from '../workload/wire.ts';

/** JSON-RPC over HTTP to one address. `patienceMs`: how long nothing may come before the connection is given up. */
export function httpWire(url: string, patienceMs: number): Wire {
  const post = (method: string, params: object, signal: AbortSignal, lastEventId?: string) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    });

  return {
    async call(method, params) {
      let reply: unknown;
      try {
        const response = await post(method, params, AbortSignal.timeout(patienceMs));
        reply = await response.json();
      } catch (cause) {
        throw new Broken(`${method} was not answered`, { cause });
      }
      return resultOf(reply);
    },

    async *stream(method, params, lastEventId) {
      const leave = new AbortController();
      let timer = setTimeout(() => leave.abort(), patienceMs);
      try {
        const response = await unlessBroken(post(method, params, leave.signal, lastEventId));
        if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
          resultOf(await unlessBroken(response.json()));
          throw new Broken('Neither a stream nor an error');
        }
        const events = decodeSse(response.body);
        for (;;) {
          const next = await unlessBroken(events.next());
          if (next.done) return;
          clearTimeout(timer);
          timer = setTimeout(() => leave.abort(), patienceMs);
          yield { id: next.value.id, event: resultOf(JSON.parse(next.value.data)) as Seen['event'] };
        }
      } finally {
        clearTimeout(timer);
        leave.abort();
      }
    },
  };
}

async function unlessBroken<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (cause) {
    throw new Broken('The stream broke', { cause });
  }
}
