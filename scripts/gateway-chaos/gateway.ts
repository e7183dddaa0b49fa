/** One process of a task gateway under test. Its orders come from the process that started it. */
import { createServer } from 'node:http';
import { nodeHandler } from '@batonjs/server-node';
import { createTaskGateway } from '@batonjs/task-gateway';
import { type MediumName, mediumOf } from '../chaos/medium.ts';

/** The options of a process. */
export interface GatewayOrders {
  readonly store: MediumName;
  readonly location: string;
  /** The same for every process that takes this one's place. */
  readonly port: number;
  readonly agent: string;
  readonly leaseMs: number;
}

const { store, location, port, agent, leaseMs } = JSON.parse(process.argv[2] ?? '{}') as GatewayOrders;
process.on('disconnect', () => process.exit());

const gateway = createTaskGateway({
  types: { count: agent },
  store: await mediumOf(store).open(location),
  leaseMs,
  logger: (level, message, details) => {
    if (process.env.CHAOS_LOG) console.error(process.pid, level, message, details);
  },
});
const listener = createServer(nodeHandler(gateway));
gateway.attach(listener);
listener.listen(port, '127.0.0.1', () => process.send?.('up'));
