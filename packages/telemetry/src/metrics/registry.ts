import type {
  Attributes,
  BatchObservableCallback,
  MetricOptions,
  Observable,
  ObservableGauge,
} from '@opentelemetry/api';
import { type Exposed, labelsOf, prometheusName } from './exposition.ts';
import type { UsedMeter } from './instruments.ts';

/**
 * How many series one instrument may have. Values of labels come from a few lists, apart from codes of errors, which
 * agents choose: what comes after these is counted together, as OpenTelemetry does it.
 */
const mostSeries = 200;
const overflow: Attributes = { 'otel.metric.overflow': true };

/** One instrument and all its values. */
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
