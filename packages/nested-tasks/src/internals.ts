// For the other packages of Baton. It may change in every release.
export { Agents, connectWithin, isIdempotent } from './agents/agents.ts';
export { reach, Unreachable } from './agents/reach.ts';
export { derivedId } from './children/child-record.ts';
