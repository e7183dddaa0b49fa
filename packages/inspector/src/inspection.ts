import { sleep } from '@batonjs/protocol/timing';
import { type Inspected, inspected } from './agents/inspected.ts';
import type { Action } from './api/agent.ts';
import type { Watched } from './clients/client-requests.ts';
import { problemOf, RequestError } from './http/reply.ts';
import type { InspectedAgent, Target, Viewer } from './options.ts';
import { agentTasks } from './tasks/agent-tasks.ts';
import { storeTasks } from './tasks/store-tasks.ts';
import type { TaskSource } from './tasks/task-feed.ts';
import { type Recordings, recordingsOf } from './timeline/recordings.ts';
import { credentialsIn, HIDDEN } from './wire/secrets.ts';

/** An agent with what the inspector collected about its tasks. */
export interface Exhibit extends Inspected {
  readonly tasks: TaskSource;
  /** Undefined where the store has the whole log. */
  readonly recordings: Recordings | undefined;
}

/** How long the app waits for the names of agents, in milliseconds. */
const introductionMs = 500;

/** All agents of an inspector. */
export class Inspection {
  readonly #agents = new Map<string, Exhibit>();

  constructor(agents: readonly InspectedAgent[]) {
    for (const agent of agents) this.add(agent);
  }

  get agents(): readonly Exhibit[] {
    return [...this.#agents.values()];
  }

  /** The agents whose servers run in this process. */
  get servers(): readonly Watched[] {
    return this.agents.flatMap(({ id, server, link }) =>
      server && link ? [{ id, server, url: link.url }] : [],
    );
  }

  /** Adds an agent. Throws `TypeError` for options without an agent. */
  add(options: InspectedAgent): Exhibit {
    const agent = inspected(options, (id) => this.#agents.has(id));
    const { store, link } = agent;
    const recordings = store || !link ? undefined : recordingsOf(link);
    const tasks = store ? storeTasks(store) : agentTasks(link!, () => recordings!.rows());
    const exhibit = Object.assign(agent, { tasks, recordings });
    this.#agents.set(agent.id, exhibit);
    return exhibit;
  }

  /** Removes an agent that a viewer added, and follows its tasks no more. Throws a `RequestError` for another one. */
  remove(id: string): void {
    const { isAdded, recordings } = this.agent(id);
    if (!isAdded)
      throw new RequestError(409, `The agent ${id} was given by the program that runs the inspector`);
    recordings?.close();
    this.#agents.delete(id);
  }

  /** JSON without the credentials that agents are called with: an agent may repeat in an error what it was sent. */
  readonly hide = (json: string): string =>
    this.agents
      .flatMap(({ options }) => credentialsIn(options.connect?.headers ?? {}))
      // Longer ones first: a secret may contain another one.
      .sort((one, other) => other.length - one.length)
      .reduce((text, secret) => text.replaceAll(JSON.stringify(secret).slice(1, -1), HIDDEN), json);

  /** The agent of an id. Throws a `RequestError` for an unknown one. */
  agent(id: string | undefined): Exhibit {
    const found = this.#agents.get(id ?? '');
    if (!found) throw new RequestError(404, `The inspector knows no agent ${id}`);
    return found;
  }

  /** Reads the cards of agents that have none yet. Resolves when all are read, and after 500 ms in any case. */
  async introduce(): Promise<void> {
    const unread = this.agents.filter(
      ({ link, description, problem }) => link && description === undefined && !problem,
    );
    const reading = unread.map(async (agent) => {
      try {
        const { card } = await agent.link!.client();
        agent.name = card.name;
        agent.description = card.description;
      } catch (error) {
        agent.problem = problemOf(error).message;
      }
    });
    await Promise.race([Promise.all(reading), sleep(introductionMs)]);
  }

  /** Stops following tasks. */
  close(): void {
    for (const { recordings } of this.#agents.values()) recordings?.close();
  }
}

/** Whether a viewer may do something. */
export const isAllowed = async ({ may = [] }: Viewer, action: Action, target: Target): Promise<boolean> =>
  typeof may === 'function' ? (await may(action, target)) === true : may.includes(action);
