import { type AddressPolicyOptions, addressPolicy } from './address-policy.ts';

/**
 * The `fetch` of a client of an agent, for servers: what the agent's card or a redirect names outside of the origin of
 * `agent` must be an address that the policy accepts. Follows no redirects: the client does, with the same `fetch`. Rejects
 * with `AddressRefused`. The runtime resolves a name again when it connects.
 */
export function checkedFetch(
  agent: string | URL,
  options: AddressPolicyOptions = {},
): (request: Request) => Promise<Response> {
  const policy = addressPolicy(options);
  const { origin } = new URL(agent);
  return async (request) => {
    if (new URL(request.url).origin !== origin) await policy.destination(request.url, request.signal);
    return fetch(new Request(request, { redirect: 'manual' }));
  };
}
