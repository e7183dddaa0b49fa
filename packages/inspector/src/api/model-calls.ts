/** The tokens of a call, as far as they are known. */
export interface TokenUsage {
  /** All that were read, those from a cache and into it included. */
  readonly input?: number;
  /** All that were written, those of reasoning included. */
  readonly output?: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

export interface CallCost {
  readonly usage?: TokenUsage;
  /** In the currency of the prices; absent without a price, or without tokens. */
  readonly cost?: number;
}

/** A call of a model whose answer was not kept. */
export interface FailedCall extends CallCost {
  /** In milliseconds. */
  readonly ms: number;
  /** The status of HTTP, if there was one. */
  readonly status?: number;
}

/** A message of a prompt, or an answer. */
export interface CallMessage {
  readonly role: string;
  readonly text: string;
}

/** What a model was asked and what it said; for viewers who may read prompts. */
export interface CallMessages {
  /** Absent if the agent keeps none. */
  readonly prompt?: readonly CallMessage[];
  readonly answer?: string;
  /** Some of it was left out. */
  readonly isCut?: true;
}

/** A call of a model whose answer is in the log. */
export interface ModelCall extends CallCost {
  readonly kind: 'model';
  readonly provider: string;
  readonly modelId: string;
  /** The model that answered, if it calls itself otherwise. */
  readonly responseModelId?: string;
  /** From the request to the end of the answer, in milliseconds. */
  readonly ms: number;
  /** Until the first words, in milliseconds. */
  readonly firstMs?: number;
  readonly finishReason?: string;
  /** The tries that failed before it. */
  readonly failed?: readonly FailedCall[];
  readonly messages?: CallMessages;
}

/** A call of a tool whose result is in the log. */
export interface ToolCall {
  readonly kind: 'tool';
  readonly name: string;
  readonly ms: number;
  readonly isFailed?: true;
}

/** What a step called. */
export type Call = ModelCall | ToolCall;
