/** Why a mutation that survives is no missing test. */
export interface Explanation {
  /** The file, from the root of the repository. */
  readonly file: string;
  /** The text of the line where the mutation begins, without spaces around it. */
  readonly line: string;
  /** The replacements that are meant; all of the line if this is left out. */
  readonly replacements?: readonly string[];
  readonly why: string;
}

export const explanations: readonly Explanation[] = [
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: 'if (taken.length > 0) next.taken = attempt > 1 ? [...next.taken, ...taken] : taken;',
    replacements: ['[]', 'false'],
    why: 'No log has it: an attempt after the first one names only messages that were taken already.',
  },
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: "messageOf(conversation, messageId)?.role === 'ROLE_AGENT' ? positionOf(conversation, messageId) : -1;",
    replacements: ['+1', 'messageOf(conversation, messageId).role'],
    why: 'No log has it: a status whose message has the id of a client’s is refused when it is decided.',
  },
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: 'if (fact.at > next.at) next.at = fact.at;',
    replacements: ['fact.at >= next.at'],
    why: 'The same: the value that is assigned is equal.',
  },
  {
    file: 'packages/lifecycle/src/evolve.ts',
    line: 'const wanted = ids.length > 8 ? new Set(ids) : undefined;',
    why: 'Slower or faster, but the same: a set and a list answer alike.',
  },
  {
    file: 'packages/lifecycle/src/frozen-json.ts',
    line: "if (typeof member === 'string' || typeof member === 'boolean') continue;",
    why: 'Slower, but the same: the copy of a text or a truth value is itself.',
  },
  {
    file: 'packages/lifecycle/src/frozen-json.ts',
    line: 'let absent = false;',
    replacements: ['true'],
    why: 'Slower, but the same: members that are absent are left out of a copy that has none.',
  },
  {
    file: 'packages/lifecycle/src/frozen-json.ts',
    line: 'absent ||= copied === undefined;',
    replacements: ['true'],
    why: 'Slower, but the same: members that are absent are left out of a copy that has none.',
  },
  {
    file: 'packages/lifecycle/src/frozen-json.ts',
    line: 'if (copied !== member) target[key] = copied;',
    replacements: ['true'],
    why: 'Slower, but the same: the value that is assigned is the one that is there.',
  },
  {
    file: 'packages/lifecycle/src/frozen-json.ts',
    line: '(prototype === Object.prototype || prototype === null) &&',
    replacements: ['false', 'prototype !== null'],
    why: 'Slower, but the same: a value that is not taken for a plain object is copied by way of its JSON.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: "if (!head) next.contextId = fact.message.contextId ?? '';",
    replacements: ['true'],
    why: 'No log has it: a later message has the context of its task, and no other.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: 'if (next.dueAt !== undefined) next.dueAt = undefined;',
    replacements: ['true'],
    why: 'The same: it is undefined already.',
  },
  {
    file: 'packages/lifecycle/src/head.ts',
    line: "contextId: '',",
    replacements: ['"Stryker was here!"'],
    why: 'The same: the first fact, which is always a message, replaces it.',
  },
  {
    file: 'packages/lifecycle/src/decide.ts',
    line: 'const at = state && state.at > now ? state.at : now;',
    replacements: ['state.at >= now'],
    why: 'The same: both values are equal.',
  },
  {
    file: 'packages/lifecycle/src/conversation.ts',
    line: 'const shared = messages.items === conversation.messages.items;',
    replacements: ['false'],
    why: 'Slower, but the same: what could be shared is copied.',
  },
  {
    file: 'packages/lifecycle/src/view.ts',
    line: 'const start = Math.max(0, length - historyLength - (hidden === -1 ? 0 : 1));',
    replacements: ['false'],
    why: 'The same: one message more is read and cut off again.',
  },
  {
    file: 'packages/lifecycle/src/view.ts',
    line: 'return shown.length > historyLength ? shown.slice(-historyLength) : shown;',
    replacements: ['true', 'shown.length >= historyLength'],
    why: 'The same: of so many messages or fewer, the last so many are all.',
  },
  {
    file: 'packages/lifecycle/src/states.ts',
    line: 'TASK_STATE_UNSPECIFIED: [],',
    replacements: ['["Stryker was here"]'],
    why: 'The same: no state has that name, and this one is never asked whether it is terminal.',
  },
  {
    file: 'packages/store/src/admit.ts',
    line: "return row.head.dueAt !== undefined && Date.parse(row.head.dueAt) <= now ? 'due' : undefined;",
    replacements: ['true'],
    why: 'The same: a time that is absent parses to NaN, which is not before anything.',
  },
  {
    file: 'packages/store/src/cut-page.ts',
    line: 'if (bytes === Number.POSITIVE_INFINITY) return { tasks, total };',
    replacements: ['false'],
    why: 'Slower, but the same: nothing is left over from infinitely many bytes.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "const texts: Kind = { list: 'text' };",
    replacements: ['""'],
    why: 'The same: the default of a text is never asked for here, and every text is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "const scopes: Kind = { map: 'text' };",
    replacements: ['""'],
    why: 'The same: the default of a text is never asked for here, and every text is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "documentationUrl: ifSet('text'),",
    replacements: ['""'],
    why: 'The same: the default of a text is never asked for here, and every text is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "iconUrl: ifSet('text'),",
    replacements: ['""'],
    why: 'The same: the default of a text is never asked for here, and every text is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "streaming: ifSet('flag'),",
    replacements: ['""'],
    why: 'The same: a member that is signed whenever it is set needs no default, and its value is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "params: ifSet('json'),",
    replacements: ['""'],
    why: 'The same: a member that is signed whenever it is set needs no default, and its value is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "pushNotifications: ifSet('flag'),",
    replacements: ['""'],
    why: 'The same: a member that is signed whenever it is set needs no default, and its value is signed as it is.',
  },
  {
    file: 'packages/auth/src/cards/card-shape.ts',
    line: "extendedAgentCard: ifSet('flag'),",
    replacements: ['""'],
    why: 'The same: a member that is signed whenever it is set needs no default, and its value is signed as it is.',
  },
  {
    file: 'packages/auth/src/callers/api-key.ts',
    line: "function cookie(header = '', name: string): string | undefined {",
    why: 'The same: a header without the cookie is as good as none.',
  },
  {
    file: 'packages/auth/src/callers/api-key.ts',
    line: "const found = header.split(';').find((pair) => pair.split('=', 1)[0]?.trim() === name);",
    replacements: ["pair.split('=', 1)[0].trim"],
    why: 'The same: a text that is split has a first part.',
  },
  {
    file: 'packages/auth/src/callers/bearer-jwt.ts',
    line: "const [, token] = /^bearer +(\\S.*)$/i.exec(headers.authorization ?? '') ?? [];",
    replacements: ['"Stryker was here!"', '["Stryker was here"]', '/^bearer +(\\S.*)/i'],
    why: 'The same: neither names a token, and a header has one line.',
  },
  {
    file: 'packages/auth/src/callers/bearer-jwt.ts',
    line: "throw new errors.JWTClaimValidationFailed('`sub` must be a string', payload, 'sub', 'invalid');",
    why: 'The same for callers: the error is replaced by one with a text of its own.',
  },
  {
    file: 'packages/auth/src/callers/bearer-jwt.ts',
    line: 'const payload = await verify(token.trim());',
    replacements: ['token'],
    why: 'The same: the library ignores spaces after the signature.',
  },
  {
    file: 'packages/auth/src/callers/bearer-jwt.ts',
    line: "typeof value === 'string' ? value : [...value];",
    replacements: ['true'],
    why: 'The same: the library does not change the list. The copy is for its type.',
  },
  {
    file: 'packages/auth/src/cards/card-payload.ts',
    line: "spec: canonicalize(spec) ?? '',",
    why: 'No card has it: an object has a canonical text.',
  },
  {
    file: 'packages/auth/src/cards/card-payload.ts',
    line: "sdk: canonicalize(withoutEmpty(spec) ?? {}) ?? '',",
    replacements: ['"Stryker was here!"'],
    why: 'No card has it: an object has a canonical text.',
  },
  {
    file: 'packages/auth/src/cards/card-payload.ts',
    line: "return typeof kind === 'object' && 'list' in kind ? [] : {};",
    replacements: ['true'],
    why: 'The same: the default of free JSON is never asked for.',
  },
  {
    file: 'packages/auth/src/cards/card-payload.ts',
    line: 'const found: Found = { unknown: [], empty: [] };',
    replacements: ['["Stryker was here"]'],
    why: 'The same: of empty members, only those of security are named.',
  },
  {
    file: 'packages/auth/src/cards/sign-card.ts',
    line: "return { protected: jws.protected ?? '', signature: jws.signature };",
    why: 'No signature has it: the protected header was given.',
  },
  {
    file: 'packages/auth/src/cards/sign-card.ts',
    line: '} catch {',
    why: 'The same: the function returns nothing in both cases.',
  },
  {
    file: 'packages/auth/src/cards/trusted-keys.ts',
    line: 'const known = set.jwks()?.keys ?? [];',
    why: 'No set has it: it was fetched in the line before, or that line rejected.',
  },
  {
    file: 'packages/auth/src/cards/trusted-keys.ts',
    line: 'return set.jwks()?.keys ?? [];',
    why: 'No set has it: it was fetched in the line before, or that line rejected.',
  },
  {
    file: 'packages/auth/src/cards/trusted-keys.ts',
    line: "if (trust.revoked?.includes(key.kid ?? '') || revoked !== undefined) return false;",
    replacements: ['"Stryker was here!"'],
    why: 'The same: a key without a name is not asked for.',
  },
  {
    file: 'packages/auth/src/cards/trusted-keys.ts',
    line: 'const named = jku === undefined ? undefined : sets.get(hrefOf(jku));',
    replacements: ['false'],
    why: 'The same: no set has an undefined address.',
  },
  {
    file: 'packages/auth/src/cards/trusted-keys.ts',
    line: "if ((typeof nbf === 'number' && nbf > now) || (typeof exp === 'number' && exp <= now)) return false;",
    replacements: ['true'],
    why: 'The same: nothing but a number is more or less than the time. Only digits in a text would be, which no key has.',
  },
  {
    file: 'packages/auth/src/cards/trusted-keys.ts',
    line: "return key.kty !== 'oct' && (use ?? 'sig') === 'sig' && (key.alg ?? alg) === alg;",
    replacements: ['true', '""'],
    why: 'The same: a shared secret cannot be imported for any accepted algorithm.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: 'if (!CardSignatureError.is(error)) throw error;',
    replacements: ['false'],
    why: 'No card has it: only faults of this package throw other errors.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: 'if (sdk !== spec && (lenient || missingInSdk.length === 0))',
    replacements: ['true'],
    why: 'Slower, but the same: an equal text is tried twice.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: "if (typeof alg !== 'string' || !algorithms.includes(alg))",
    replacements: ['false'],
    why: 'The same: the list holds texts only.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: "return { alg, kid, jku: typeof jku === 'string' ? jku : undefined };",
    replacements: ['true'],
    why: 'The same: no set has an address that is no text.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: 'await flattenedVerify({ protected: header, signature, payload }, key, { algorithms: [alg] });',
    replacements: ['{}'],
    why: 'The same: the key was imported for this algorithm and takes no other.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: 'if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)',
    replacements: ['true'],
    why: 'No card has it: the library throws no other errors.',
  },
  {
    file: 'packages/auth/src/cards/verify-card.ts',
    line: '} catch (error) {',
    why: 'The same: the function returns nothing, which counts as false.',
  },
  {
    file: 'packages/auth/src/keys/digest.ts',
    line: 'for (let index = 0; index < a.length; index++) difference |= a[index]! ^ (b[index] ?? 0);',
    replacements: ['index <= a.length'],
    why: 'The same: lengths that differ were noticed before.',
  },
  {
    file: 'packages/auth/src/keys/key-set.ts',
    line: 'if (failed && performance.now() - failed.at < failureMs) throw failed.error;',
    replacements: ['performance.now() - failed.at <= failureMs', 'performance.now() + failed.at'],
    why: 'Only the time would show it, and no test measures time.',
  },
  {
    file: 'packages/auth/src/keys/public-keys.ts',
    line: "if (!['EC', 'OKP', 'RSA'].includes(key.kty ?? ''))",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a kind of key.',
  },
  {
    file: 'packages/auth/src/keys/signing-key.ts',
    line: "const { kid, alg = algorithmOfCurve[jwk.crv ?? ''], d, kty } = jwk;",
    replacements: ['"Stryker was here!"'],
    why: 'The same: neither is a curve.',
  },
  {
    file: 'packages/auth/src/webhooks/verify-push.ts',
    line: "const [, bearer] = /^bearer +(\\S+)$/i.exec(headers.get('authorization') ?? '') ?? [];",
    replacements: ['"Stryker was here!"', '["Stryker was here"]'],
    why: 'The same: neither names a token.',
  },
  {
    file: 'packages/auth/src/webhooks/verify-push.ts',
    line: "issuer: typeof options.issuer === 'string' ? options.issuer : [...options.issuer],",
    replacements: ['true'],
    why: 'The same: the library does not change the list. The copy is for its type.',
  },
  {
    file: 'packages/auth/src/webhooks/verify-push.ts',
    line: "audience: typeof options.audience === 'string' ? options.audience : [...options.audience],",
    replacements: ['true'],
    why: 'The same: the library does not change the list. The copy is for its type.',
  },
];
