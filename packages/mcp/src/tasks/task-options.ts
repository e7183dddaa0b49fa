import { mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from '@modelcontextprotocol/server';

const supports = ['immediate', 'deferred', 'required', 'forbidden'] as const;

/**
 * Whether a call of a tool becomes a task for a client that declares the extension. `immediate`: at once. `deferred`: after
 * `waitMs`, before which its questions are results. `required`: at once, and a call without the extension is refused.
 * `forbidden`: never.
 */
export type TaskSupport = (typeof supports)[number];

const taskOptions = {
  /** By the name of the tool. Default for each other tool: `immediate`, or `deferred` where `waitMs` is above 0. */
  tools: undefined as Readonly<Record<string, TaskSupport>> | undefined,
  /** Milliseconds between two reads of a task that clients are advised to. Default 1,000. */
  pollIntervalMs: 1_000,
  /**
   * Milliseconds that the agent keeps a task after its end, as in its `retention.closedAfterMs`. Clients learn from it
   * when an ended task may be gone (`ttlMs`). Default: forever.
   */
  retentionMs: undefined as number | undefined,
};

/** How calls become tasks of the extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28. */
export type McpTaskOptions = OptionsOf<typeof taskOptions>;

/** The options for tasks, complete. */
export type TaskSettings = Readonly<ReturnType<typeof readTaskOptions>>;

/** Throws `TypeError` for an option that does not exist, and `RangeError` for a value that is none. */
export function readTaskOptions(options: McpTaskOptions, waitMs: number) {
  mustKnowOptions(options, taskOptions, 'tasks');
  const { tools = {}, pollIntervalMs, retentionMs } = withDefaults(taskOptions, options);
  for (const [tool, support] of Object.entries(tools)) {
    if (!supports.includes(support))
      throw new RangeError(`tasks.tools: ${tool} is one of ${supports.join(', ')}, not ${String(support)}`);
    if (support === 'deferred' && waitMs === 0)
      throw new RangeError(`tasks.tools: ${tool} is deferred, which needs a waitMs above 0`);
  }
  mustBeTime('tasks.pollIntervalMs', pollIntervalMs);
  if (retentionMs !== undefined) mustBeTime('tasks.retentionMs', retentionMs);
  const others = waitMs > 0 ? 'deferred' : 'immediate';
  return {
    pollIntervalMs,
    retentionMs,
    supportOf: (tool: string): TaskSupport =>
      (Object.hasOwn(tools, tool) ? tools[tool] : undefined) ?? others,
  };
}

function mustBeTime(name: string, value: number): void {
  if (!(Number.isInteger(value) && value >= 1))
    throw new RangeError(`${name} is a whole number of milliseconds above 0, not ${value}`);
}

/** The extension for tasks of MCP 2026-07-28, SEP-2663. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The capabilities of the client: those of the request (2026-07-28), or those of the session. */
export const capabilitiesOf = (
  { mcpReq }: ServerContext,
  session?: ClientCapabilities | undefined,
): ClientCapabilities =>
  (mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ] ??
  session ??
  {};

/** Whether the client shows forms. `elicitation: {}` of earlier versions means forms. */
export const showsForms = ({ elicitation }: ClientCapabilities): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

/** Whether the client opens an address that it is asked to open. */
export const opensUrls = ({ elicitation }: ClientCapabilities): boolean => elicitation?.url !== undefined;

/** Whether the client takes a handle instead of a result. Each request says so again. */
export const takesHandles = ({ extensions }: ClientCapabilities): boolean =>
  typeof extensions?.[TASKS_EXTENSION] === 'object';

/** The refusal of a request that only clients with the extension may make: -32021. */
export const extensionMissing = (): MissingRequiredClientCapabilityError =>
  new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    `The client does not declare the extension ${TASKS_EXTENSION} in the capabilities of this request`,
  );
