import type { AgentServer } from '@batonjs/server';

/** An agent that is being served. */
export interface Exhibit {
  readonly name: string;
  /** The address that its clients use. */
  readonly url: string;
  readonly server: AgentServer;
}
