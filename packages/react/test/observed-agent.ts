import { type AgentClient, connect } from '@batonjs/client';
import { FORM_INPUT } from '@batonjs/extensions/client';
import type { Message } from '@batonjs/protocol';
import type { Talking } from './talking-agent.ts';

/** A call of an operation, as it left the client. */
interface Call {
  readonly method: string;
  readonly params: {
    readonly id?: string;
    readonly message?: Message;
    readonly contextId?: string;
    readonly pageSize?: number;
  };
  readonly lastEventId: string | null;
  /** Aborted when the client does not want the answer any more. */
  readonly signal: AbortSignal;
}

/** A client whose calls a test sees. */
export interface Observed {
  readonly agent: AgentClient;
  readonly calls: readonly Call[];
  /** The calls of a method. */
  of(method: string): readonly Call[];
  /** What each call awaits first; it fails if this rejects. */
  before: (call: Call) => unknown;
  /** Breaks all bodies that are read. */
  cut(): void;
}

/** A client in the process of a server, which neither tries again by itself nor over another binding. */
export async function observe({ server, agent: { card } }: Talking): Promise<Observed> {
  const calls: Call[] = [];
  const bodies: TransformStreamDefaultController[] = [];
  const supportedInterfaces = card.supportedInterfaces.slice(0, 1);
  const agent = await connect(
    { ...card, supportedInterfaces },
    {
      extensions: [FORM_INPUT],
      retry: false,
      fetch: async (request) => {
        const { method, params } = await request.clone().json();
        const lastEventId = request.headers.get('last-event-id');
        const call: Call = { method, params, lastEventId, signal: request.signal };
        calls.push(call);
        await observed.before(call);
        const response = await server.fetch(request);
        const start = (controller: TransformStreamDefaultController) => void bodies.push(controller);
        return new Response(response.body?.pipeThrough(new TransformStream({ start })) ?? null, response);
      },
    },
  );
  const observed: Observed = {
    agent,
    calls,
    of: (name) => calls.filter(({ method }) => method === name),
    before: () => {},
    cut: () => {
      for (const body of bodies) body.error(new TypeError('terminated'));
    },
  };
  return observed;
}
