import type { Explanation } from './explanation.ts';

export const explanationsOfServer: readonly Explanation[] = [
  {
    file: 'packages/server/src/options.ts',
    line: /^(\w+: true,|const of\w+: Names<\w+> = .*)$/,
    replacements: ['false'],
    why: 'The same: only the names are read.',
  },
  {
    file: 'packages/server/src/front/http/handler.ts',
    line: 'const wanted = dependencies.options.preview && stated === PREVIEW_VERSION ? PROTOCOL_VERSION : stated;',
    replacements: ['dependencies.options.preview || stated === PREVIEW_VERSION'],
    why: 'The same for callers: a version that the server does not speak is refused again when the call is answered.',
  },
  {
    file: 'packages/server/src/webhooks/address-policy/address-policy.ts',
    line: 'if (ipVersion(host) !== 0) return { url, host, addresses: [host] };',
    replacements: ['false'],
    why: 'Slower, but the same: an address that is looked up is found as it is.',
  },
  {
    file: 'packages/server/src/webhooks/address-policy/safe-fetch.ts',
    line: "(Array.isArray(value) ? value : [value ?? '']).map((one) => [name, one]),",
    replacements: ['"Stryker was here!"'],
    why: 'No reply has it: each header that `node:http` lists has a value.',
  },
  {
    file: 'packages/server/src/base/store/inside-of.ts',
    line: "const inside = Symbol.for('@batonjs/server/inside');",
    why: 'The same: every module that uses the symbol gets it from here.',
  },
  {
    file: 'packages/server/src/turns/task-writer.ts',
    line: 'const want = next !== undefined && next <= now;',
    replacements: ['true'],
    why: 'The same: nothing is before or at an undefined time.',
  },
];
