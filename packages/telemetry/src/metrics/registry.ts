import {
  type Attributes,
  type BatchObservableCallback,
  type Histogram,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  metrics,
  type Observable,
  type ObservableGauge,
  type UpDownCounter,
} from '@opentelemetry/api';
import { scope } from '../names.ts';
import { type Exposed, labelsOf, prometheusName } from './exposition.ts';

/**
 * How many series one instrument may have. Values of labels come from a few lists, apart from codes of errors, which
 * agents choose: what comes after these is counted together, as OpenTelemetry does it.
 */
const mostSeries = 200;
const overflow: Attributes = { 'otel.metric.overflow': true };

class Instrument implements Exposed, Observable {
  readonly kind: Exposed['kind'];
  readonly name: string;
  readonly help: string;
  readonly unit: string | undefined;
  readonly bounds: readonly number[];
  readonly series = new Map<string, { value: number; buckets: number[] }>();

  constructor(kind: Exposed['kind'], name: string, { unit = '', description = '', advice }: MetricOptions) {
    this.kind = kind;
    this.name = prometheusName(name, unit);
    this.help = description;
    this.unit = unit === 's' ? 'seconds' : undefined;
    this.bounds = advice?.explicitBucketBoundaries ?? [];
  }

  add(value: number, attributes: Attributes = {}): void {
    this.#of(attributes).value += value;
  }

  /** Of a histogram. */
  record(value: number, attributes: Attributes = {}): void {
    const series = this.#of(attributes);
    series.value += value;
    const at = this.bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.bounds.length : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  // Gauges are observed together: they have no callbacks of their own.
  addCallback(): void {}
  removeCallback(): void {}

  #of(attributes: Attributes): { value: number; buckets: number[] } {
    const labels = labelsOf(attributes);
    const known = this.series.get(labels);
    if (known) return known;
    if (this.series.size >= mostSeries && attributes !== overflow) return this.#of(overflow);
    const series = { value: 0, buckets: [] };
    this.series.set(labels, series);
    return series;
  }
}

/** A meter that keeps what it is told in memory, for `metricsHandler`. It needs no SDK of OpenTelemetry. */
export class Registry implements UsedMeter {
  readonly #instruments = new Map<string, Instrument>();
  readonly #callbacks: (readonly [BatchObservableCallback, readonly Observable[]])[] = [];
  #collecting: Promise<readonly Exposed[]> | undefined;

  readonly createHistogram = this.#maker('histogram');
  readonly createCounter = this.#maker('counter');
  readonly createUpDownCounter = this.#maker('gauge');
  readonly createObservableGauge: (name: string, options?: MetricOptions) => ObservableGauge =
    this.#maker('gauge');

  addBatchObservableCallback(callback: BatchObservableCallback, gauges: readonly Observable[]): void {
    this.#callbacks.push([callback, gauges]);
  }

  /** All instruments with their values, after gauges were observed. Requests of one moment share a look. */
  collect(): Promise<readonly Exposed[]> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #collect(): Promise<readonly Exposed[]> {
    const observed: [Instrument, number, Attributes | undefined][] = [];
    const observe = (gauge: Observable, value: number, attributes?: Attributes) => {
      if (gauge instanceof Instrument) observed.push([gauge, value, attributes]);
    };
    await Promise.all(this.#callbacks.map(([callback]) => callback({ observe })));
    // Also what was observed last time and is not any more.
    for (const [, gauges] of this.#callbacks)
      for (const gauge of gauges) if (gauge instanceof Instrument) gauge.series.clear();
    for (const [gauge, value, attributes] of observed) gauge.add(value, attributes);
    return [...this.#instruments.values()];
  }

  #maker(kind: Exposed['kind']): (name: string, options?: MetricOptions) => Instrument {
    return (name, options = {}) => {
      const made = this.#instruments.get(name) ?? new Instrument(kind, name, options);
      this.#instruments.set(name, made);
      return made;
    };
  }
}

/** The instruments of a server or worker. Their attributes have few values: never an id. */
export type Instruments = {
  readonly [Name in keyof typeof rows]: (typeof rows)[Name] extends readonly [string, 's', ...unknown[]]
    ? Pick<Histogram, 'record'>
    : Pick<UpDownCounter, 'add'>;
};

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

// biome-ignore format: a table reads best with one row per line
/** The histograms, in seconds, and the counters: name, unit, description, bounds. Only streams are counted down again. */
const rows = {
  requestDuration: ['baton.server.request.duration', 's', 'How long requests take; streams until they end', bounds.request],
  turnDuration: ['baton.turn.duration', 's', 'How long attempts of turns take', bounds.turn],
  turnWait: ['baton.turn.wait.duration', 's', 'From the message of a client to the call of the agent', bounds.wait],
  firstUpdate: ['baton.turn.first_update.duration', 's', 'From the call of an agent to its first update', bounds.wait],
  storeOperation: ['baton.store.operation.duration', 's', 'How long calls of the store take', bounds.store],
  // Two counters: one process may create a task and another end it, after a restart of the first.
  createdTasks: ['baton.tasks.created', '{task}', 'Tasks that this process created'],
  endedTasks: ['baton.tasks.ended', '{task}', 'Tasks that this process ended, by their last state'],
  failedTasks: ['baton.tasks.failed', '{task}', 'Tasks that this process failed, by their code'],
  recoveredTurns: ['baton.turns.recovered', '{turn}', 'Turns taken over from a process whose lease expired'],
  failedAttempts: ['baton.turns.failed', '{attempt}', 'Attempts of turns whose agent threw, and which another one follows'],
  lostLeases: ['baton.leases.lost', '{lease}', 'Leases lost in the middle of a turn'],
  deliveries: ['baton.push.deliveries', '{delivery}', 'Attempts to deliver to webhooks, by outcome'],
  deliveryLag: ['baton.push.lag', 's', 'From the update to its delivery', bounds.lag],
  modelTokens: ['baton.model.tokens', '{token}', 'Tokens that calls of models read (input) and wrote (output), by model'],
  modelCost: ['baton.model.cost', '{unit}', 'What calls of models cost, in units of a currency, by model'],
  followers: ['baton.followers', '{stream}', 'Open streams of this process'],
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
export function makeInstruments(meters: readonly UsedMeter[]): Instruments {
  const made = Object.entries(rows).map(([key, [name, unit, description, bounds]]) => {
    if (bounds) {
      const advice = { explicitBucketBoundaries: [...bounds] };
      const histograms = meters.map((meter) => meter.createHistogram(name, { unit, description, advice }));
      const record: Histogram['record'] = (value, attributes) => {
        for (const one of histograms) one.record(value, attributes);
      };
      return [key, { record }] as const;
    }
    const create = key === 'followers' ? 'createUpDownCounter' : 'createCounter';
    const counters = meters.map((meter) => meter[create](name, { unit, description }));
    const add: UpDownCounter['add'] = (value, attributes) => {
      for (const one of counters) one.add(value, attributes);
    };
    return [key, { add }] as const;
  });
  return Object.fromEntries<object>(made) as Instruments;
}
