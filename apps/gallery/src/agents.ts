import { assistant, card as assistantCard, keepsPrompts, modelFrom } from '@batonjs/assistant';
import { card as boatCard, designBoat } from '@batonjs/boat-designer';
import { chatAgent, chatCard } from '@batonjs/chat';
import { type ClientTelemetry, connect } from '@batonjs/client';
import { concierge } from '@batonjs/concierge';
import { convertMoney, card as currencyCard } from '@batonjs/currency';
import { approveExpense, card as expenseCard } from '@batonjs/expense-agent';
import { quickAirline, tripPlanner } from '@batonjs/trip-planner';
import { counterCard, countSlowly } from './count-slowly.ts';
import type { GalleryAgent } from './gallery.ts';

/** Every agent of the gallery; the first one is the default agent. Each is served at `/agents/<name>`. */
export const agents = samples();

/** Shows that a task goes on after its process was killed: soon, because leases are short. */
const counter: GalleryAgent = {
  name: 'counter',
  agent: countSlowly,
  card: counterCard,
  restart: 'rerun',
  timeouts: { leaseMs: 2_000 },
};

/** The agent of the page at `/chat`. Soon taken up again after a kill, because leases are short. */
const chat: GalleryAgent = {
  name: 'chat',
  agent: chatAgent(),
  card: chatCard,
  restart: 'rerun',
  timeouts: { leaseMs: 2_000 },
  messages: { idempotency: true },
};

/**
 * All of these agents at an address, the counter, and the concierge, which calls them there. `telemetry` is told about
 * these calls.
 */
export function agentsAt(
  url: string,
  telemetry?: ClientTelemetry,
): readonly [GalleryAgent, ...GalleryAgent[]] {
  const remotes = Object.fromEntries(agents.map(({ name }) => [name, { url: `${url}/agents/${name}` }]));
  return [
    ...samples(url, telemetry),
    counter,
    chat,
    { name: 'concierge', ...concierge(remotes, { telemetry }) },
  ];
}

function samples(url?: string, telemetry?: ClientTelemetry): readonly [GalleryAgent, ...GalleryAgent[]] {
  const planner = tripPlanner({
    self: url && `${url}/agents/trip-planner`,
    airline: quickAirline,
    connect: (callee) => connect(callee, { telemetry }),
  });
  return [
    { name: 'expense', agent: approveExpense, card: expenseCard },
    { name: 'currency', agent: convertMoney, card: currencyCard, messages: { currentStatusInHistory: true } },
    { name: 'boat-designer', agent: designBoat, card: boatCard },
    { name: 'trip-planner', ...planner, messages: { idempotency: true } },
    {
      name: 'assistant',
      agent: assistant(modelFrom(process.env), { keepPrompts: keepsPrompts(process.env) }),
      card: assistantCard,
      restart: 'rerun',
    },
  ];
}
