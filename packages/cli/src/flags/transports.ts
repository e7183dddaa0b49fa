import { InvalidArgumentError } from 'commander';

/** The bindings that are built in, as cards name them, by the names that users may give. */
const bindings: Readonly<Record<string, string>> = {
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  rest: 'HTTP+JSON',
  'http+json': 'HTTP+JSON',
  grpc: 'GRPC',
};

/** Adds a binding, or several with commas between them, to the preferred ones. */
export function addTransport(text: string, earlier: readonly string[] = []): readonly string[] {
  const named = text.split(',').map((name) => {
    const binding = bindings[name.trim().toLowerCase()];
    if (!binding) throw new InvalidArgumentError('A transport is jsonrpc, rest or grpc.');
    return binding;
  });
  return [...earlier, ...named];
}
