/** One requirement of the registry of the a2a-cli specification. */
export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2 | 3;
  readonly area: string;
  readonly requirement: string;
}

/** The requirements of the registry, as the command line reads them: tier, identifier, what it asks for. */
const rows = `
1 A2ACLI_CARD_GET_001 a card is found by host, URL or file, shown, and cached by the rules of HTTP
1 A2ACLI_SEND_001 a message is sent, and its result awaited
1 A2ACLI_SEND_002 --async returns identifiers at once
1 A2ACLI_SEND_003 --stream uses the capability and never hangs without it
1 A2ACLI_SEND_004 artifacts are rendered, no part is dropped, bytes go to disk only on request
1 A2ACLI_SEND_005 --media-type binds to the part before it
1 A2ACLI_SEND_006 part flags are repeatable, in order
1 A2ACLI_TASK_GET_001 task get shows state, artifacts, and history on request
1 A2ACLI_TASK_CANCEL_001 task cancel is idempotent and reports the resulting state
1 A2ACLI_INTERACT_001 a conversation goes on by context
1 A2ACLI_INTERACT_002 a task goes on by its id, and a refusal starts no new one
1 A2ACLI_INTERACT_003 identifiers of the server are never invented
1 A2ACLI_INTERACT_004 identifiers and state are reported with the command that goes on
1 A2ACLI_INTERACT_005 nothing is remembered between commands
1 A2ACLI_TASK_POLL_001 a task is read once, or until it settles
1 A2ACLI_TASK_POLL_002 interval and timeout of a wait
1 A2ACLI_TASK_POLL_003 interrupted and unspecified states
1 A2ACLI_TASK_POLL_004 a stream that fails falls back to polling
1 A2ACLI_OUT_001 identifiers and state everywhere, streams never mixed
1 A2ACLI_OUT_002 exactly one document in JSON
1 A2ACLI_OUT_003 one document per line with --stream, an error as the last one
1 A2ACLI_OUT_004 errors in two layers, with a hint
1 A2ACLI_OUT_005 the floor of text output
1 A2ACLI_OUT_006 --async emits task id and context id
1 A2ACLI_EXIT_001 exit codes agree with errors
1 A2ACLI_EXIT_002 the outcome of a task does not change the exit code
1 A2ACLI_AUTH_001 credentials are attached as the card says
1 A2ACLI_AUTH_002 credential flags have variables, and help warns of the command line
1 A2ACLI_AUTH_003 a credential over an unverified connection is warned of
1 A2ACLI_AUTH_004 credentials are redacted in all diagnostics
1 A2ACLI_TX_001 the transport comes from the card
1 A2ACLI_TX_002 --transport sets a preference
1 A2ACLI_TX_003 the tenant of the interface in every request
1 A2ACLI_VER_001 the version on every request, no silent downgrade
1 A2ACLI_DEFAULT_001 six defaults, shipped, shown and overridable
1 A2ACLI_CONFIG_001 settings can be inspected, and secrets are kept
1 A2ACLI_CLI_001 help and version
1 A2ACLI_SKILL_001 one short SKILL.md that points to help
1 A2ACLI_SKILL_002 SKILL.md has a check and no installer
2 A2ACLI_CARD_GET_002 --validate checks against the schema
2 A2ACLI_TASK_LIST_001 task list with pages and filters
2 A2ACLI_TASK_SUBSCRIBE_001 task subscribe follows a task
2 A2ACLI_TASK_SUBSCRIBE_002 it resumes after a break, and begins with the whole task
2 A2ACLI_AUTH_005 login by device code
2 A2ACLI_AUTH_006 login by client credentials
2 A2ACLI_AUTH_007 tokens are kept safely and attached automatically
2 A2ACLI_TX_004 two transports or more
2 A2ACLI_VER_003 the capability is checked before a gated call
2 A2ACLI_CONFIG_002 precedence of settings, with their sources
2 A2ACLI_OUT_007 raw wire messages under --debug
2 A2ACLI_DOWNLOAD_001 artifacts are saved
2 A2ACLI_PUSH_001 webhooks are created, shown, listed and deleted
2 A2ACLI_CONFORM_001 a smoke check of a live agent
2 A2ACLI_CLI_002 a completion script for the named shell
3 A2ACLI_CARD_GET_003 the extended card, with a scheme of the public one
3 A2ACLI_AUTH_008 no credential to an endpoint that declares none
3 A2ACLI_CARD_GET_004 signatures: verified, unverifiable, absent
3 A2ACLI_CARD_GET_005 catalog entries as references
3 A2ACLI_PUSH_002 a webhook receiver
3 A2ACLI_CHAT_001 chat carries the context and the interrupted task
3 A2ACLI_TX_005 gRPC
3 A2ACLI_AUTH_009 mutual TLS
3 A2ACLI_AUTH_010 OpenID Connect
3 A2ACLI_AUTH_011 an authorization that is required inside a task
3 A2ACLI_DEMO_SERVER_001 a local agent
3 A2ACLI_VER_002 extensions that the server requires are declared
`;

export const registry: readonly Requirement[] = rows
  .trim()
  .split('\n')
  .map((line) => {
    const [, tier, id, requirement] = /^(\d) (\S+) (.+)$/.exec(line)!;
    const area = id!.replace(/^A2ACLI_/, '').replace(/_\d{3}$/, '');
    return { id: id!, tier: Number(tier) as Requirement['tier'], area, requirement: requirement! };
  });

/** Requirements that are not shipped, each with the reason. */
export const notShipped: Readonly<Record<string, string>> = {
  A2ACLI_CARD_GET_005: 'Catalogs are not supported.',
};
