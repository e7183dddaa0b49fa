/** The scope in which a server keeps the tasks of one agent, tenant and caller. Default: anonymous callers of the only agent. */
export const scopeOf = (agent = 'agent', tenant = '', caller = ''): string =>
  JSON.stringify([agent, tenant, caller]);

/** The scope of anonymous callers of a server whose agent has no name. */
export const scope = scopeOf();
