import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from '@modelcontextprotocol/server';

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
