import type {
  Attributes,
  BatchObservableCallback,
  Counter,
  Gauge,
  Histogram,
  Meter,
  MetricOptions,
  Observable,
  ObservableCallback,
  UpDownCounter,
} from '@opentelemetry/api';
import { type Exposed, labelsOf, prometheusName } from './exposition.ts';

/**
 * How many series one instrument may have. Values of labels come from a few lists, apart from codes of errors, which
 * agents choose: what comes after these is counted together, as OpenTelemetry does it.
 */
const mostSeries = 200;
const overflow: Attributes = { 'otel.metric.overflow': true };

/** The bounds of a histogram that names none: those of OpenTelemetry. */
const defaultBounds = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000];

interface Series {
  value: number;
  /** Of a histogram: how many values lie in each bucket that has any, the last one without an upper bound. */
  buckets: number[];
}

/** One instrument and all its values. */
class Instrument implements Counter, UpDownCounter, Gauge, Histogram, Observable {
  readonly kind: Exposed['kind'];
  readonly #name: string;
  readonly #help: string;
  readonly #unit: string | undefined;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor(kind: Exposed['kind'], name: string, { unit = '', description = '', advice }: MetricOptions) {
    this.kind = kind;
    this.#name = prometheusName(name, unit);
    this.#help = description;
    this.#unit = unit === 's' ? 'seconds' : undefined;
    this.#bounds = advice?.explicitBucketBoundaries ?? defaultBounds;
  }

  add(value: number, attributes: Attributes = {}): void {
    if (this.kind === 'counter' && !(value >= 0)) return;
    this.#of(attributes).value += value;
  }

  record(value: number, attributes: Attributes = {}): void {
    const series = this.#of(attributes);
    if (this.kind !== 'histogram') {
      series.value = value;
      return;
    }
    series.value += value;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.#bounds.length : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  addCallback(_callback: ObservableCallback): void {
    throw new TypeError('Only batch callbacks are used');
  }

  removeCallback(_callback: ObservableCallback): void {}

  /** Forgets all values: gauges are observed anew each time. */
  clear(): void {
    this.#series.clear();
  }

  exposed(): Exposed {
    return {
      kind: this.kind,
      name: this.#name,
      help: this.#help,
      unit: this.#unit,
      bounds: this.#bounds,
      series: Array.from(this.#series, ([labels, series]) => ({ labels, ...series })),
    };
  }

  #of(attributes: Attributes): Series {
    const labels = labelsOf(attributes);
    const known = this.#series.get(labels);
    if (known) return known;
    if (this.#series.size >= mostSeries && attributes !== overflow) return this.#of(overflow);
    const series: Series = { value: 0, buckets: [] };
    this.#series.set(labels, series);
    return series;
  }
}

/** A meter that keeps what it is told in memory, for `metricsHandler`. It needs no SDK of OpenTelemetry. */
export class Registry implements Meter {
  readonly #instruments = new Map<string, Instrument>();
  readonly #callbacks = new Map<BatchObservableCallback, readonly Observable[]>();
  #collecting: Promise<readonly Exposed[]> | undefined;

  createHistogram(name: string, options: MetricOptions = {}): Histogram {
    return this.#make('histogram', name, options);
  }

  createCounter(name: string, options: MetricOptions = {}): Counter {
    return this.#make('counter', name, options);
  }

  createUpDownCounter(name: string, options: MetricOptions = {}): UpDownCounter {
    return this.#make('gauge', name, options);
  }

  createGauge(name: string, options: MetricOptions = {}): Gauge {
    return this.#make('gauge', name, options);
  }

  createObservableGauge(name: string, options: MetricOptions = {}): Observable {
    return this.#make('gauge', name, options);
  }

  createObservableCounter(name: string, options: MetricOptions = {}): Observable {
    return this.#make('counter', name, options);
  }

  createObservableUpDownCounter(name: string, options: MetricOptions = {}): Observable {
    return this.#make('gauge', name, options);
  }

  addBatchObservableCallback(callback: BatchObservableCallback, observables: Observable[]): void {
    this.#callbacks.set(callback, observables);
  }

  removeBatchObservableCallback(callback: BatchObservableCallback): void {
    this.#callbacks.delete(callback);
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
    const observe = (metric: Observable, value: number, attributes?: Attributes) => {
      if (metric instanceof Instrument) observed.push([metric, value, attributes]);
    };
    await Promise.all(Array.from(this.#callbacks.keys(), (callback) => callback({ observe })));
    // Also what was observed last time and is not any more.
    for (const gauge of [...this.#callbacks.values()].flat()) if (gauge instanceof Instrument) gauge.clear();
    for (const [instrument, value, attributes] of observed) instrument.record(value, attributes);
    return Array.from(this.#instruments.values(), (instrument) => instrument.exposed());
  }

  #make(kind: Exposed['kind'], name: string, options: MetricOptions): Instrument {
    const made = this.#instruments.get(name) ?? new Instrument(kind, name, options);
    this.#instruments.set(name, made);
    return made;
  }
}
