import { isObject } from '@batonjs/protocol/json';

/** What a model costs, per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Default: that of `input`. */
  readonly cachedInput?: number;
  /** Input that is written to a cache. Default: that of `input`. */
  readonly cacheWrite?: number;
}

/** Prices of models. */
export interface ModelPrices {
  /** The code of ISO 4217, such as `USD`. */
  readonly currency: string;
  /** By provider and model as the agent names them, `openai/gpt-5-mini`, or by the model alone. */
  readonly models: Readonly<Record<string, ModelPrice>>;
}

/** The members of a price that there are. */
const members: readonly (keyof ModelPrice)[] = ['input', 'output', 'cachedInput', 'cacheWrite'];

/** The names of a model, the more exact ones first. */
interface ModelNames {
  readonly provider: string;
  readonly modelId: string;
  readonly responseModelId?: string;
}

/** Prices of models, which were checked. */
export class PriceTable {
  readonly currency: string;
  readonly #prices: ReadonlyMap<string, ModelPrice>;

  /** `option`: where the table was given. Throws `TypeError` for a table that cannot be meant so. */
  constructor(table: ModelPrices, option: string) {
    const { currency, models } = Object(table) as Partial<ModelPrices>;
    if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
      throw new TypeError(`\`${option}.currency\` must be a code of ISO 4217, such as "USD"`);
    if (!isObject(models))
      throw new TypeError(`\`${option}.models\` must be an object with a price for each model`);
    this.currency = currency;
    const placeOf = (name: string) => `\`${option}.models[${JSON.stringify(name)}]\``;
    this.#prices = new Map(
      Object.entries(models).map(([name, price]) => [name, checked(placeOf(name), price)]),
    );
  }

  /** What tokens of a model cost; undefined if the price, or how many there were, is not known. */
  costOf(
    names: ModelNames,
    usage: Readonly<Partial<Record<keyof ModelPrice, number>>> | undefined,
  ): number | undefined {
    const price = this.#priceOf(names);
    if (!price || usage?.input === undefined || usage.output === undefined) return undefined;
    const cached = Math.min(usage.cachedInput ?? 0, usage.input);
    const written = Math.min(usage.cacheWrite ?? 0, usage.input - cached);
    const { input, output, cachedInput = input, cacheWrite = input } = price;
    const millionths =
      (usage.input - cached - written) * input +
      cached * cachedInput +
      written * cacheWrite +
      usage.output * output;
    return millionths / 1_000_000;
  }

  /** A provider of the SDK may have parts, of which the first is its name: `openai.responses`. */
  #priceOf({ provider, modelId, responseModelId = modelId }: ModelNames): ModelPrice | undefined {
    const makers = [`${provider}/`, `${provider.split('.')[0]}/`, ''];
    return [responseModelId, modelId]
      .flatMap((id) => makers.map((maker) => this.#prices.get(maker + id)))
      .find((price) => price !== undefined);
  }
}

function checked(place: string, price: ModelPrice): ModelPrice {
  if (typeof price !== 'object' || price === null)
    throw new TypeError(`${place} must be an object with \`input\` and \`output\``);
  for (const member of Object.keys(price))
    if (!members.includes(member as keyof ModelPrice))
      throw new TypeError(`${place} has an unknown member "${member}". There are: ${members.join(', ')}`);
  for (const member of members) {
    const value = price[member];
    if (value === undefined && member !== 'input' && member !== 'output') continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw new TypeError(`\`${member}\` of ${place} must be a number from 0, per million tokens`);
  }
  return { ...price };
}
