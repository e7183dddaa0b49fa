import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { agent } from './agents.ts';
import { growingId } from './growing-id.ts';

type Store = ReturnType<typeof memoryStore>;
export type Commit = Parameters<Store['commit']>[0];

/** The commits of one task as text, for floors: the facts of each, and the head after them. */
export type CommitTexts = readonly { readonly facts: readonly string[]; readonly head: string }[];

/** What Baton commits for one send of this text. */
export async function sampleCommits(text: string): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  const store = memoryStore();
  const recorded: Store = {
    ...store,
    commit: (commit) => {
      commits.push(commit);
      return store.commit(commit);
    },
  };
  const server = createAgentServer({
    card: { name: 'Sample', description: 'Is recorded' },
    agent,
    store: recorded,
  });
  const message = { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text }] };
  await server.fetch(
    new Request('http://127.0.0.1/message:send', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message }),
    }),
  );
  await server.close();
  // A server also notes whose tasks are in its queue, in a log of its own.
  const { taskId } = commits.at(-1)!;
  return commits.filter((commit) => commit.taskId === taskId);
}

export const textsOf = (commits: readonly Commit[]): CommitTexts =>
  commits.map(({ facts, head }) => ({
    facts: facts.map((fact) => JSON.stringify(fact)),
    head: JSON.stringify(head),
  }));

/** The same commits of so many other tasks. */
export function commitsOfTasks(commits: readonly Commit[], tasks: number): Commit[][] {
  const [first] = commits;
  const text = JSON.stringify(commits);
  const holder = first?.turn?.acquire?.holder;
  const contextId = first?.head?.contextId;
  return Array.from({ length: tasks }, () => {
    let own = text;
    for (const id of [first!.taskId, contextId, holder, ...commits.map(({ commitId }) => commitId)])
      if (id) own = own.replaceAll(id, growingId());
    return JSON.parse(own) as Commit[];
  });
}
