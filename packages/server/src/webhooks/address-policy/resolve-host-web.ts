import type { Resolve } from './resolve-host.ts';

/** Runtimes without sockets have no DNS: the policy refuses names that are not listed. */
export const resolveHost: Resolve | undefined = undefined;

/** A listed name is trusted whatever it resolves to, so that no address is needed: `fetch` finds it. */
export const lookUpHost: Resolve = async () => [];
