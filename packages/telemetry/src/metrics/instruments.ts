import {
  type Attributes,
  type Histogram,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  metrics,
  type UpDownCounter,
} from '@opentelemetry/api';
import { metricNames as names, scope } from '../names.ts';

/** The instruments of a server or worker. Their attributes have few values: never an id. */
export type Instruments = ReturnType<typeof makeInstruments>;

/** What of a meter is used here. */
export type UsedMeter = Pick<
  Meter,
  | 'createHistogram'
  | 'createCounter'
  | 'createUpDownCounter'
  | 'createObservableGauge'
  | 'addBatchObservableCallback'
>;

/** Bounds of histograms, in seconds. The defaults of OpenTelemetry begin at 5: nearly everything would lie below. */
export const bounds = {
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600],
  turn: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600],
  wait: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600],
  store: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  lag: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400],
} as const;

/**
 * Finds the instruments. They are made again when the meter provider changes: unlike a tracer, a meter from before the
 * SDK was started stays without effect. `exposed`: a meter that hears everything, too. `changed` is told the meter.
 */
export function instrumentsOf(
  given: MeterProvider | undefined,
  exposed: UsedMeter | undefined,
  changed: (meter: Meter) => void,
): () => Instruments {
  let provider: MeterProvider | undefined;
  let instruments: Instruments | undefined;
  return () => {
    const current = given ?? metrics.getMeterProvider();
    if (!instruments || current !== provider) {
      provider = current;
      const meter = current.getMeter(scope);
      instruments = makeInstruments(exposed ? [meter, exposed] : [meter]);
      changed(meter);
    }
    return instruments;
  };
}

/** The instruments of some meters: each value is told to all of them. */
export function makeInstruments(meters: readonly UsedMeter[]) {
  const seconds = (name: string, description: string, explicitBucketBoundaries: readonly number[]) =>
    recordingIn(meters, name, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: [...explicitBucketBoundaries] },
    });
  const counter = (name: string, unit: string, description: string) =>
    addingIn(meters.map((meter) => meter.createCounter(name, { unit, description })));
  return {
    requestDuration: seconds(
      names.requestDuration,
      'How long requests take; streams until they end',
      bounds.request,
    ),
    turnDuration: seconds(names.turnDuration, 'How long attempts of turns take', bounds.turn),
    turnWait: seconds(names.turnWait, 'From the message of a client to the call of the agent', bounds.wait),
    firstUpdate: seconds(names.firstUpdate, 'From the call of an agent to its first update', bounds.wait),
    storeOperation: seconds(names.storeOperation, 'How long calls of the store take', bounds.store),
    // Two counters: one process may create a task and another end it, after a restart of the first.
    createdTasks: counter(names.createdTasks, '{task}', 'Tasks that this process created'),
    endedTasks: counter(names.endedTasks, '{task}', 'Tasks that this process ended, by their last state'),
    failedTasks: counter(names.failedTasks, '{task}', 'Tasks that this process failed, by their code'),
    recoveredTurns: counter(
      names.recoveredTurns,
      '{turn}',
      'Turns taken over from a process whose lease expired',
    ),
    failedAttempts: counter(
      names.failedAttempts,
      '{attempt}',
      'Attempts of turns whose agent threw, and which another one follows',
    ),
    lostLeases: counter(names.lostLeases, '{lease}', 'Leases lost in the middle of a turn'),
    deliveries: counter(names.deliveries, '{delivery}', 'Attempts to deliver to webhooks, by outcome'),
    deliveryLag: seconds(names.deliveryLag, 'From the update to its delivery', bounds.lag),
    followers: addingIn(
      meters.map((meter) =>
        meter.createUpDownCounter(names.followers, {
          unit: '{stream}',
          description: 'Open streams of this process',
        }),
      ),
    ),
  };
}

function recordingIn(
  meters: readonly UsedMeter[],
  name: string,
  options: MetricOptions,
): Pick<Histogram, 'record'> {
  const [first, ...others] = meters.map((meter) => meter.createHistogram(name, options));
  return {
    record(value: number, attributes?: Attributes) {
      first?.record(value, attributes);
      for (const other of others) other.record(value, attributes);
    },
  };
}

function addingIn([first, ...others]: readonly Pick<UpDownCounter, 'add'>[]): Pick<UpDownCounter, 'add'> {
  return {
    add(value: number, attributes?: Attributes) {
      first?.add(value, attributes);
      for (const other of others) other.add(value, attributes);
    },
  };
}
