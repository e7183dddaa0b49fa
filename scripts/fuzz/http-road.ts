import type { OperationName } from '@batonjs/protocol/operations';
import { between } from '../workload/random.ts';
import { checkOutcome } from './check-reply.ts';
import { mutate } from './mutate/mutate.ts';
import { bytesOf, type RawRequest } from './request.ts';
import type { Road, Told } from './road.ts';
import type { Served } from './served.ts';
import { type HttpBindingName, validRequest } from './valid-request.ts';
import { Wire } from './wire.ts';

/** Requests over HTTP, to the server and to the one behind a body parser. */
export function httpRoad(binding: HttpBindingName, served: Served, hungMs: number): Road {
  const wires = [served.port, served.parsedPort].map((port) => new Wire(port, hungMs));

  async function send(
    request: RawRequest & { readonly operation: OperationName },
    way: number,
  ): Promise<Told> {
    const outcome = await wires[way]!.send(request);
    return {
      kind: 'reply' in outcome ? String(outcome.reply.status) : outcome.kind,
      message: await checkOutcome(request, outcome),
      isUnavailable:
        'reply' in outcome && outcome.reply.status === 503 && outcome.reply.body.includes('UNAVAILABLE'),
      request: `${request.changes.join(', ')}: ${JSON.stringify(bytesOf(request).toString('latin1'))}`,
    };
  }

  return {
    sendMutated(random, known) {
      const valid = validRequest(random, binding, known);
      const mutated = { ...mutate(random, valid), operation: valid.operation };
      return send(mutated, random() < 0.8 ? 0 : 1);
    },
    sendValid: (random, known) => send(validRequest(random, binding, known), between(random, 0, 1)),
    close() {
      for (const wire of wires) wire.close();
    },
  };
}
