/** `--agent-card` is `A2ACLI_AGENT_CARD`. */
export const variableOf = (longFlag: string): string =>
  `A2ACLI_${longFlag.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`;
