/**
 * The agent, tenant and caller that tasks belong to, as one opaque string. Tasks of another scope do not exist for it.
 * Scopes, all other ids, queues, holders and `once` are 1 to 1,024 characters (`length` of the string, so up to 3,072
 * bytes of UTF-8) of well-formed Unicode without NUL. Several of them together are longer than the index of most
 * databases takes: an adapter may keep a digest.
 */
export type Scope = string;

/** The name of one task. */
export interface TaskName {
  readonly scope: Scope;
  readonly taskId: string;
}
