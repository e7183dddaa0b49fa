import type { AgentSummary } from '../../api/agent.ts';
import { useAgent, useSession } from '../data/session.ts';

/** How many colours there are. */
const colours = 6;

const letterOf = (name: string): string => ([...name.trim()][0] ?? '?').toUpperCase();

/** The agents of each letter. */
const known = new WeakMap<readonly AgentSummary[], Map<string, AgentSummary[]>>();

/** The first letter of an agent's name in a colour that its neighbours in the list do not have. */
export function AgentMark({ id, name }: { readonly id: string; readonly name: string }) {
  const { agents } = useSession();
  if (!known.has(agents))
    known.set(
      agents,
      Map.groupBy(agents, (agent) => letterOf(agent.name)),
    );
  const place = agents.findIndex((agent) => agent.id === id);
  const letter = letterOf(name);
  // Agents of one letter are told apart by a number.
  const same = known.get(agents)!.get(letter) ?? [];
  const number = same.length > 1 ? same.findIndex((agent) => agent.id === id) + 1 : '';
  return (
    <span class={`agent-mark agent-mark-${Math.max(0, place) % colours}`} aria-hidden="true">
      {letter}
      {number}
    </span>
  );
}

/** The agent of a row: its mark and its name. */
export function AgentCell({ id }: { readonly id: string }) {
  const name = useAgent(id)?.name ?? id;
  return (
    <span class="cell-agent">
      <AgentMark id={id} name={name} />
      {name}
    </span>
  );
}
