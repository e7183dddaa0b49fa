import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Who calls the model. */
export interface Billed {
  /** The text of the first task of the tree. */
  readonly root: string;
  readonly agent: string;
  readonly taskId: string;
  readonly pid: number;
}

/** What one call costs. */
export interface Bill {
  readonly id: number;
  readonly tokens: number;
  readonly millionths: number;
  readonly currency: string;
}

/** A provider of models that bills each call when it comes, whatever becomes of its answer. */
export async function startProvider(onCall: (of: Billed, moment: 'before' | 'after') => Promise<void>) {
  const bills: (Bill & Billed)[] = [];
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const of = JSON.parse(body) as Billed;
    const id = bills.length + 1;
    const bill = { id, tokens: 10 + (id % 7), millionths: 1 + ((id * 7_919) % 90_001) };
    const currency = of.agent === 'middle' ? 'EUR' : 'USD';
    bills.push({ ...of, ...bill, currency });
    await onCall(of, 'before');
    response.end(JSON.stringify({ ...bill, currency }));
    await onCall(of, 'after');
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { url, bills, close: () => http.close().closeAllConnections() };
}
