import type { AgentServer } from '@batonjs/server';

/** The server of a test, which sets it before it sends a request. In an app, it is created here. */
export const echo: Pick<AgentServer, 'fetch'> = {
  fetch: (request) =>
    (globalThis as unknown as { servedBySvelte: AgentServer }).servedBySvelte.fetch(request),
};
