import {
  type Counter,
  type Histogram,
  type MeterProvider,
  metrics,
  type UpDownCounter,
} from '@opentelemetry/api';
import { metricNames as names, scope } from './names.ts';

/** The instruments of a server or worker. Their attributes have few values: never an id. */
export interface Instruments {
  readonly requestDuration: Histogram;
  readonly turnDuration: Histogram;
  readonly createdTasks: Counter;
  readonly endedTasks: Counter;
  readonly recoveredTurns: Counter;
  readonly failedAttempts: Counter;
  readonly lostLeases: Counter;
  readonly deliveries: Counter;
  readonly deliveryLag: Histogram;
  readonly followers: UpDownCounter;
}

/**
 * Finds the instruments. They are made again when the meter provider changes: unlike a tracer, a meter from before the
 * SDK was started stays without effect.
 */
export function instrumentsOf(given: MeterProvider | undefined): () => Instruments {
  let provider: MeterProvider | undefined;
  let instruments: Instruments | undefined;
  return () => {
    const current = given ?? metrics.getMeterProvider();
    if (!instruments || current !== provider) {
      provider = current;
      instruments = makeInstruments(current);
    }
    return instruments;
  };
}

function makeInstruments(provider: MeterProvider): Instruments {
  const meter = provider.getMeter(scope);
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description });
  return {
    requestDuration: seconds(names.requestDuration, 'How long requests take; streams until they end'),
    turnDuration: seconds(names.turnDuration, 'How long attempts of turns take'),
    // Two counters: one process may create a task and another end it, after a restart of the first.
    createdTasks: meter.createCounter(names.createdTasks, {
      unit: '{task}',
      description: 'Tasks that this process created',
    }),
    endedTasks: meter.createCounter(names.endedTasks, {
      unit: '{task}',
      description: 'Tasks that this process ended, by their last state',
    }),
    recoveredTurns: meter.createCounter(names.recoveredTurns, {
      unit: '{turn}',
      description: 'Turns taken over from a process whose lease expired',
    }),
    failedAttempts: meter.createCounter(names.failedAttempts, {
      unit: '{attempt}',
      description: 'Attempts of turns whose agent threw, and which another one follows',
    }),
    lostLeases: meter.createCounter(names.lostLeases, {
      unit: '{lease}',
      description: 'Leases lost in the middle of a turn',
    }),
    deliveries: meter.createCounter(names.deliveries, {
      unit: '{delivery}',
      description: 'Attempts to deliver to webhooks, by outcome',
    }),
    deliveryLag: seconds(names.deliveryLag, 'From the update to its delivery'),
    followers: meter.createUpDownCounter(names.followers, {
      unit: '{stream}',
      description: 'Open streams of this process',
    }),
  };
}
