import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportMissing } from './missing.ts';

const program = 'openssl';

/** Whether this machine can make a certificate; tests that need one are skipped elsewhere, which is said. */
export const canCertify = spawnSync(program, ['version']).status === 0;
if (!canCertify) reportMissing('No openssl here: `apt-get install openssl` or `brew install openssl`.');

/** A key and a certificate of its own for a name and for 127.0.0.1, as PEM, good for two days. */
export function certificateOf(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'baton-tls-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`];
    const made = ['req', '-x509', ...curve, '-nodes', '-days', '2', ...subject];
    execFileSync(program, [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
