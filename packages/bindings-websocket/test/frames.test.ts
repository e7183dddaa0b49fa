import { A2AError, type FieldViolation } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { encodeError, readAnswer } from '../src/wire/answer-frame.ts';
import { idAtStart, idIn, readRequest } from '../src/wire/request-frame.ts';

/** What is wrong with a frame, as `field: description`. */
function violationsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    const [detail] = (error as A2AError).details as unknown as [{ fieldViolations: FieldViolation[] }];
    return detail.fieldViolations.map(({ field, description }) => `${field}: ${description}`);
  }
  return [];
}

const id = 'id: must be a number or a string of at most 256 characters';
const noHeader = 'serviceParams: has a name that no header may have';
const params = (named: object) => ({ id: 1, method: 'ListTasks', serviceParams: named });
const login = (named: object) => ({ id: 1, method: 'Authenticate', params: named });
const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, value]));

describe('a request', () => {
  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, frame: unknown, violations: string[]]>([
    ['a list', [], [': must be one JSON object']],
    ['empty', {}, [id, 'method: must be a string']],
    ['of another jsonrpc', { id: 1, jsonrpc: '1.0', method: 'ListTasks' }, ['jsonrpc: must be "2.0"']],
    ['of no jsonrpc', { id: 1, method: 'ListTasks' }, []],
    ['with an id of 256 characters', { id: 'x'.repeat(256), method: 'ListTasks' }, []],
    ['with an id of 257 characters', { id: 'x'.repeat(257), method: 'ListTasks' }, [id]],
    ['with a fraction as its id', { id: 1.5, method: 'ListTasks' }, []],
    ['with an id that is rounded', { id: 2 ** 53, method: 'ListTasks' }, [id]],
    ['to cancel, with a word', { id: 1, cancelStream: 'yes' }, ['cancelStream: must be true or false', 'method: must be a string']],
    ['to cancel', { id: 1, cancelStream: true }, []],
    ['to cancel, with null as its method', { id: 1, cancelStream: true, method: null }, []],
    ['to cancel, with wrong service parameters', { id: 1, cancelStream: true, serviceParams: 7 }, []],
    ['to cancel, with a method', { id: 1, cancelStream: true, method: 'ListTasks' }, ['method: must be absent where cancelStream is true']],
    ['not to cancel', { id: 1, cancelStream: false, method: 'ListTasks' }, []],
    ['with null as its service parameters', { id: 1, method: 'ListTasks', serviceParams: null }, []],
    ['with a list of service parameters', { id: 1, method: 'ListTasks', serviceParams: [] }, ['serviceParams: must be an object']],
    ['with 64 service parameters', params(many(64, '')), []],
    ['with 65 service parameters', params(many(65, '')), ['serviceParams: has more than 64 members']],
    ['with 70 wrong service parameters', params(many(70, 1)), ['serviceParams: has more than 64 members', ...Object.keys(many(64, 1)).map((name) => `serviceParams.${name}: must be a string`)]],
    ['with a name of 256 characters', params({ ['a'.repeat(256)]: '' }), []],
    ['with a name of 257 characters', params({ ['a'.repeat(257)]: '' }), [noHeader]],
    ['with an empty name', params({ '': '' }), [noHeader]],
    ['with a name that begins with a space', params({ ' a': '' }), [noHeader]],
    ['with a name that ends with a space', params({ 'a ': '' }), [noHeader]],
    ['with all characters that a name may have', params({ "aZ_09!#$%&'*+.^`|~-": '' }), []],
    ['with text of all kinds', params({ a: '\t ~\x80\xffä€' }), []],
    ['with a control character', params({ a: 'x\ny' }), ['serviceParams.a: has control characters']],
    ['with DEL', params({ a: '\x7f' }), ['serviceParams.a: has control characters']],
    ['with a number', params({ a: 1 }), ['serviceParams.a: must be a string']],
    ['with no params', { id: 1, method: 'Authenticate' }, ['scheme: must name a scheme of HTTP authentication', 'credentials: must be printable ASCII']],
    ['with null as its params', { id: 1, method: 'Authenticate', params: null }, ['scheme: must name a scheme of HTTP authentication', 'credentials: must be printable ASCII']],
    ['with a list of params', { id: 1, method: 'Authenticate', params: [] }, ['params: must be an object']],
    ['with a scheme of 64 characters', login({ scheme: 'a'.repeat(64), credentials: 'x' }), []],
    ['with a scheme of 65 characters', login({ scheme: 'a'.repeat(65), credentials: 'x' }), ['scheme: must name a scheme of HTTP authentication']],
    ['with a scheme that begins with a space', login({ scheme: ' Bearer', credentials: 'x' }), ['scheme: must name a scheme of HTTP authentication']],
    ['with a scheme that ends with a space', login({ scheme: 'Bearer ', credentials: 'x' }), ['scheme: must name a scheme of HTTP authentication']],
    ['with a number as its scheme', login({ scheme: 7, credentials: 'x' }), ['scheme: must name a scheme of HTTP authentication']],
    ['with a number as its credentials', login({ scheme: 'Bearer', credentials: 7 }), ['credentials: must be printable ASCII']],
    ['with credentials that begin with a control character', login({ scheme: 'Bearer', credentials: '\nx' }), ['credentials: must be printable ASCII']],
    ['with credentials that end with one', login({ scheme: 'Bearer', credentials: 'x\n' }), ['credentials: must be printable ASCII']],
    ['with credentials of several words', login({ scheme: 'Digest', credentials: 'a=" ~"' }), []],
  ])('that is or has: %s', (_, frame, violations) => {
    expect(violationsOf(() => readRequest(frame))).toEqual(violations);
  });

  it('has names in lower case, and joins those that are the same', () => {
    const frame = readRequest(params({ 'A2A-Version': '1.0', 'a2a-extensions': 'a', 'A2A-Extensions': 'b' }));
    expect(frame).toMatchObject({
      kind: 'call',
      id: 1,
      operation: 'ListTasks',
      serviceParams: { 'a2a-version': '1.0', 'a2a-extensions': 'a, b' },
    });
    expect(readRequest(params({ constructor: 'x' }))).toMatchObject({ serviceParams: { constructor: 'x' } });
  });

  it('is to cancel, or has credentials', () => {
    expect(readRequest({ id: 'a', cancelStream: true })).toEqual({ kind: 'cancel', id: 'a' });
    const authorization = 'Bearer a b';
    expect(readRequest(login({ scheme: 'Bearer', credentials: 'a b' }))).toEqual({
      kind: 'authenticate',
      id: 1,
      authorization,
    });
  });

  it.each([
    ['FlyToMoon', 'Method not found'],
    ['tasks/get', 'Method not found: tasks/get is a method of A2A 0.3; in 1.0 it is GetTask'],
  ])('for %s says what there is', (method, text) => {
    expect(() => readRequest({ id: 1, method })).toThrow(new A2AError('METHOD_NOT_FOUND', text));
  });
});

describe('an id', () => {
  // biome-ignore format: a table reads best with one row per line
  it.each<[text: string, id: string | number | undefined]>([
    ['{"id":1}', 1], ['{"id":-7,', -7], ['{"id":0}', 0], ['{"id":""}', ''], ['{"id":"a b"}', 'a b'],
    [' \n{ \n"jsonrpc" : \n"2.0" , \n"id" : \n"a" \n}', 'a'],
    ['{"jsonrpc":"2.0","id":10,"x":[', 10],
    [`{"id":"${'x'.repeat(256)}"}`, 'x'.repeat(256)],
    ['{"id":1234567890123456}', 1234567890123456],
    ['{"id":9999999999999999}', undefined], ['{"id":12345678901234567}', undefined],
    [`{"id":"${'x'.repeat(257)}"}`, undefined],
    ['{"jsonrpc":"1.0","id":1}', undefined], ['{"jsonrpc":"2x0","id":1}', undefined], ['{"id":01}', undefined], ['{"id":1.5}', undefined],
    ['{"id":"a\\"b"}', undefined], ['{"id":"a\u0001"}', undefined], ['{"a":0,"id":1}', undefined],
    ['x{"id":1}', undefined], ['[{"id":1}]', undefined], ['{"id":1', undefined], ['{"id":1]', undefined], ['{"id":null}', undefined], ['', undefined],
  ])('at the start of %s is %j', (text, found) => {
    expect(idAtStart(text)).toBe(found);
  });

  it.each([[null], [undefined], ['text'], [7], [{ id: {} }], [{ id: [] }]])('of %j is none', (value) => {
    expect(idIn(value)).toBeUndefined();
  });
});

describe('an answer', () => {
  const none = undefined;

  // biome-ignore format: a table reads best with one row per line
  it.each<[frame: unknown, read: unknown]>([
    [{ id: 1, result: { a: 1 } }, { kind: 'result', id: 1, result: { a: 1 }, position: none }],
    [{ id: 1, result: null }, { kind: 'result', id: 1, result: {}, position: none }],
    [{ id: 1, result: 0, version: 'log.1' }, { kind: 'result', id: 1, result: 0, position: 'log.1' }],
    [{ id: 1, result: {}, version: 7 }, { kind: 'result', id: 1, result: {}, position: none }],
    [{ id: 1, streamEnd: true, result: {} }, { kind: 'end', id: 1 }],
    [{ id: 1, streamEnd: false }, none],
    [{ id: 1, streamEnd: 1 }, none],
    [{ id: 1, error: 'no' }, none],
    [{ id: 1, error: null, result: {} }, { kind: 'result', id: 1, result: {}, position: none }],
    [{ id: 1 }, none],
    [{ result: {} }, none],
    [{ streamEnd: true }, none],
    [{ id: 1, control: 'Other' }, none],
    [{ id: 1, control: 'ReauthenticationRequired', error: {} }, { kind: 'reauthentication' }],
  ])('that is %j', (frame, read) => {
    expect(readAnswer(JSON.stringify(frame))).toEqual(read);
  });

  it.each(['{', '', '[]', 'null', '7', '"x"'])('that is %s is none of this protocol', (text) => {
    expect(() => readAnswer(text)).toThrow(expect.objectContaining({ reason: 'INVALID_AGENT_RESPONSE' }));
  });

  const code = -32_000;
  // biome-ignore format: a table reads best with one row per line
  it.each<[error: object, serviceParams: unknown, expected: object]>([
    [{ code: -32_001, message: 'x' }, none, { reason: 'TASK_NOT_FOUND', message: 'x', retryAfter: none, challenge: none }],
    [{ code, message: 'The RATE LIMIT was hit' }, none, { reason: 'RESOURCE_EXHAUSTED', message: 'The RATE LIMIT was hit' }],
    [{ code, message: 'Too Many streams' }, none, { reason: 'RESOURCE_EXHAUSTED' }],
    [{ code, message: 'Bad Credentials' }, none, { reason: 'UNAUTHENTICATED' }],
    [{ code, message: 'This token is old' }, none, { reason: 'UNAUTHENTICATED' }],
    [{ code, message: 'Session expired' }, none, { reason: 'UNAUTHENTICATED' }],
    [{ code, message: 'Please authenticate' }, none, { reason: 'UNAUTHENTICATED' }],
    [{ code, message: 'No' }, none, { reason: 'INTERNAL_ERROR' }],
    [{ code }, none, { reason: 'INTERNAL_ERROR' }],
    // Only errors of the connection are told apart by their messages.
    [{ code: -32_001, message: 'Too many tokens' }, none, { reason: 'TASK_NOT_FOUND' }],
    [{ code: -32_001 }, { 'retry-after': '7', 'www-authenticate': 'Bearer' }, { reason: 'TASK_NOT_FOUND', retryAfter: 7, challenge: 'Bearer' }],
    [{ code: -32_001 }, { 'retry-after': 7, 'www-authenticate': ['Bearer'] }, { retryAfter: none, challenge: none }],
    [{ code: -32_001 }, null, { retryAfter: none, challenge: none }],
    [{ code: -32_001, data: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [] }] }, { 'www-authenticate': 'Bearer' }, { details: [{ fieldViolations: [] }], challenge: 'Bearer' }],
  ])('that is the error %j, with %j', (error, serviceParams, expected) => {
    const read = readAnswer(JSON.stringify({ id: 1, error, serviceParams }));
    expect(read).toMatchObject({ kind: 'error', id: 1 });
    expect(read?.kind === 'error' && read.error).toMatchObject(expected);
  });

  it('that is an error keeps all of it, with a challenge or without', () => {
    const given = { details: [], metadata: { taskId: 't' }, retryAfter: 3 };
    for (const challenge of [undefined, 'Bearer']) {
      const text = encodeError(
        null,
        new A2AError('TASK_NOT_FOUND', 'Gone', { ...given, ...(challenge && { challenge }) }),
      );
      const read = readAnswer(text);
      expect(read).toMatchObject({
        kind: 'error',
        id: undefined,
        error: { ...given, message: 'Gone', challenge },
      });
    }
  });

  it('that is an error has service parameters only if there are any', () => {
    expect(JSON.parse(encodeError(1, new A2AError('PARSE_ERROR')))).not.toHaveProperty('serviceParams');
  });
});
