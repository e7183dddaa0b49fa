import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { cli, type Surroundings } from '../../packages/cli/test/cli.ts';
import { serveAuthorization } from '../../packages/cli/test/secured-agent.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { canaries } from './canaries.ts';
import { type Failure, serveEchoing } from './echoing-agent.ts';

const failures: readonly Failure[] = ['refuses', 'breaks', 'says an error', 'talks nonsense'];
const outputs = ['-o text', '-o json', '-o text --verbose --debug', '-o json --verbose --debug'];
const nowhere = 'http://127.0.0.1:1';

describe('no secret of a user leaves the command line', () => {
  it.each([
    ['bearer', 'a flag', (secret: string) => ({ flags: ['--bearer', secret] })],
    ['bearer', 'a variable', (secret: string) => ({ env: { A2ACLI_BEARER: secret } })],
    ['bearer', 'a file', (secret: string) => ({ file: `A2ACLI_BEARER=${secret}\n` })],
    ['header', 'a flag', (secret: string) => ({ flags: ['--api-key', secret] })],
    ['query', 'a variable', (secret: string) => ({ env: { A2ACLI_API_KEY: secret } })],
    ['cookie', 'a file', (secret: string) => ({ file: `A2ACLI_API_KEY=${secret}\n` })],
  ] as const)('a credential for the scheme %s, from %s', async (scheme, _, given) => {
    const secrets = canaries();
    const home = temporaryFolder();
    const {
      flags = [],
      env = {},
      file,
    } = given(secrets.plant('the credential')) as {
      flags?: string[];
      env?: Record<string, string>;
      file?: string;
    };
    const parameter = ['--svc-param', `X-Tenant-Secret:${secrets.plant('a service parameter')}`];
    const config = file === undefined ? [] : ['--config', join(home, 'settings.env')];
    if (file !== undefined) writeFileSync(join(home, 'settings.env'), file);
    const agent = await serveEchoing(secrets, scheme);
    const token = secrets.plant('the token of a webhook');
    const around: Surroundings = { home, env };
    const run = async (line: string, ...more: string[]) => {
      const ran = await cli([...line.split(' '), ...more, ...flags, ...parameter, ...config], around);
      secrets.leave(line.replace(agent.url, 'URL'), [ran.stdout, ran.stderr]);
    };
    for (const output of outputs) {
      for (const fail of failures) {
        agent.fail = fail;
        // A server that breaks is asked again and again, for as long as there is time.
        const timeout = fail === 'breaks' ? '--timeout 1s' : '--timeout 20s';
        await run(`send -a ${agent.url} ${output} ${timeout} hello`);
      }
      await run(`load -a ${agent.url} ${output} --callers 2 --duration 20ms --mix send=1,stream=1,list=1`);
      await run(`task get -a ${agent.url} ${output} t1`);
      await run(
        `task push-config create -a ${agent.url} ${output} t1 --url http://hook.example`,
        '--token',
        token,
      );
      await run(`card get ${agent.url} ${output}`);
      await run(`send -a ${nowhere} ${output} --timeout 100ms hello`);
      await run(`send -e ${agent.url}/rpc --transport jsonrpc ${output} --timeout 20s hello`);
    }
    for (const output of ['-o text', '-o json']) await run(`config show -a ${agent.url} ${output}`);
    secrets.check();
  });

  it('the secret of an OAuth client, and the token that it got', async () => {
    const secrets = canaries();
    const secret = secrets.plant('the client secret');
    const server = await serveAuthorization((url) => ({
      securitySchemes: {
        o: {
          oauth2SecurityScheme: {
            flows: { clientCredentials: { tokenUrl: `${url}/token`, scopes: { read: 'Read' } } },
          },
        },
      },
      securityRequirements: [{ schemes: { o: { list: ['read'] } } }],
    }));
    const home = temporaryFolder();
    for (const wrong of ['', ':wrong'])
      for (const output of outputs) {
        const line = `auth login -a ${server.url} --client-id tool ${output}`;
        const ran = await cli(line, { home, env: { A2ACLI_CLIENT_SECRET: `${secret}${wrong}` } });
        secrets.leave(line.replace(server.url, 'URL'), [ran.stdout, ran.stderr]);
      }
    for (const { authorization = '', ...form } of server.forms)
      secrets.arrive(
        `${authorization} ${decodeURIComponent(Buffer.from(authorization.slice(6), 'base64').toString())} ${JSON.stringify(form)}`,
      );
    secrets.check();
  });
});
