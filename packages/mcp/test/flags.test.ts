import { describe, expect, it } from 'vitest';
import { readFlags as read, UsageError } from '../src/flags.ts';

const url = 'https://agent.example';
const environment = { TOKEN: ' Bearer secret\n', KEY: 'key', EMPTY: '', BROKEN: 'sec\nret' };
const readFlags = (args: readonly string[]) => read(args, environment);

describe('the flags of the program', () => {
  it('are read', () => {
    const args = [
      url,
      '--header',
      'Authorization: Bearer a:b',
      '--http',
      '8080',
      '--wait',
      '50',
      '--allow',
      'a:1',
    ];
    expect(readFlags(args)).toEqual({
      url,
      headers: { Authorization: 'Bearer a:b' },
      waitMs: 50_000,
      modelApproves: false,
      allow: ['a:1'],
      http: { port: 8080, host: '127.0.0.1', allowedHosts: [] },
    });
    expect(readFlags([url])).toMatchObject({ http: undefined, waitMs: 0, modelApproves: false });
    expect(readFlags([url, '--model-approves'])).toMatchObject({ modelApproves: true });
    expect(readFlags(['--help'])).toBe('help');
    expect(readFlags(['--version'])).toBe('version');
  });

  it('take names of hosts for a server that others reach, and for one of this machine', () => {
    const http = (...args: string[]) => Object(readFlags([url, '--http', '1', ...args])).http;
    expect(http('--host', '0.0.0.0', '--allow-host', 'a.example', '--allow-host', 'b.example')).toEqual({
      port: 1,
      host: '0.0.0.0',
      allowedHosts: ['a.example', 'b.example'],
    });
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(http('--host', host)).toEqual({ port: 1, host, allowedHosts: [] });
    expect(http('--allow-host', 'a.example')).toMatchObject({
      host: '127.0.0.1',
      allowedHosts: ['a.example'],
    });
  });

  it('reach to their bounds', () => {
    expect(readFlags([url, '--http', '65535', '--wait', '2147483'])).toMatchObject({
      waitMs: 2_147_483_000,
      http: { port: 65_535 },
    });
    expect(readFlags([url, '--http', '0', '--wait', '0', '--header', ' A :  b '])).toMatchObject({
      headers: { A: 'b' },
      waitMs: 0,
      http: { port: 0 },
    });
    expect(readFlags(['http://agent.example'])).toMatchObject({ url: 'http://agent.example' });
  });

  it.each([
    [[], 'The URL of the agent is missing'],
    [[url, 'a', 'b'], 'One URL is enough: a b'],
    [['xhttp://agent.example'], 'Not an http or https URL: xhttp://agent.example'],
    [[url, '--wait', '2147484'], '--wait is a whole number from 0 to 2147483, not 2147484'],
    [[url, '--wait', '1x'], '--wait is a whole number'],
    [[url, '--wait', 'x1'], '--wait is a whole number'],
    [[url, '--wait', '00000000001'], '--wait is a whole number'],
    [[url, '--http', ''], '--http is a whole number'],
    [
      [url, '--http', '1', '--host', '0.0.0.0'],
      '--host 0.0.0.0 needs --allow-host with the names that clients use',
    ],
    [[url, 'other'], 'One URL is enough: other'],
    [['ftp://a.example'], 'Not an http or https URL: ftp://a.example'],
    [['agent'], 'Not an http or https URL: agent'],
    [[url, '--http', '65536'], '--http is a whole number from 0 to 65535, not 65536'],
    [[url, '--http', '1e3'], '--http is a whole number'],
    [[url, '--wait', '-1'], "'--wait' argument is ambiguous"],
    [[url, '--wait', 'soon'], '--wait is a whole number from 0 to 2147483, not soon'],
    [[url, '--host', 'localhost'], '--host and --allow-host need --http'],
    [[url, '--allow-host', 'a.example'], '--host and --allow-host need --http'],
    [[url, '--colour'], "Unknown option '--colour'"],
    [[url, '--header-env', 'A=UNSET'], 'The environment variable UNSET of --header-env is not set'],
    [[url, '--header-env', 'A=EMPTY'], 'The environment variable EMPTY of --header-env is not set'],
    [[url, '--header-env', 'A=BROKEN'], 'The environment variable BROKEN is not the value of a header'],
  ])('are refused: %j', (args, message) => {
    expect(() => readFlags(args)).toThrow(UsageError);
    expect(() => readFlags(args)).toThrow(message);
  });

  it('take the values of headers from the environment', () => {
    const args = [
      url,
      '--header-env',
      'Authorization=TOKEN',
      '--header',
      'X-A: b',
      '--header-env',
      'X-Key=KEY',
    ];
    expect(readFlags(args)).toMatchObject({
      headers: { Authorization: 'Bearer secret', 'X-A': 'b', 'X-Key': 'key' },
    });
  });

  it.each(['secret', '=secret', 'A: secret', 'a b=secret', 'A=Bearer secret', 'A='])(
    'do not show the variable %j',
    (header) => {
      expect(() => readFlags([url, '--header-env', header])).toThrow('A --header-env is not Name=VARIABLE');
    },
  );

  it.each(['secret', ': secret', 'a b: secret', 'a: sec\nret'])('do not show the header %j', (header) => {
    expect(() => readFlags([url, '--header', header])).toThrow('A --header is not "Name: value"');
  });
});
