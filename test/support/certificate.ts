import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A key and a certificate, both as PEM. */
export interface Certified {
  readonly key: string;
  readonly cert: string;
}

/** An authority: its certificate, and the certificates that it signs. */
export interface Authority {
  readonly cert: string;
  issue(name: string): Certified;
}

/** A key and a certificate of its own for a name and for 127.0.0.1, good for two days. */
export function certificateOf(name: string): Certified {
  const { privateKey, publicKey } = keyPair();
  const extensions = [altNames(name)];
  return {
    key: pem('PRIVATE KEY', privateKey.export({ type: 'pkcs8', format: 'der' })),
    cert: certify({ subject: name, publicKey, issuer: name, signer: privateKey, extensions }),
  };
}

/** A new authority, whose certificates are good for two days. */
export function authorityOf(issuer: string): Authority {
  const { privateKey: signer, publicKey } = keyPair();
  return {
    cert: certify({ subject: issuer, publicKey, issuer, signer, extensions: [isAuthority] }),
    issue(name) {
      const own = keyPair();
      const extensions = [altNames(name)];
      return {
        key: pem('PRIVATE KEY', own.privateKey.export({ type: 'pkcs8', format: 'der' })),
        cert: certify({ subject: name, publicKey: own.publicKey, issuer, signer, extensions }),
      };
    },
  };
}

interface Request {
  readonly subject: string;
  readonly publicKey: Buffer;
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}

const dayMs = 86_400_000;

/** A certificate of X.509, version 3, written in DER. */
function certify({ subject, publicKey, issuer, signer, extensions }: Request): string {
  const unsigned = sequence(
    tlv(0xa0, integer(Buffer.of(2))),
    // Positive: the first bit is 0.
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(Date.now() - dayMs), time(Date.now() + 2 * dayMs)),
    nameOf(subject),
    publicKey,
    tlv(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', unsigned, signer);
  return pem('CERTIFICATE', sequence(unsigned, ecdsaWithSha256, tlv(0x03, Buffer.of(0), signature)));
}

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { privateKey: createPrivateKey(privateKey), publicKey };
}

function tlv(tag: number, ...content: readonly Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...head), value]);
}

const sequence = (...content: readonly Buffer[]): Buffer => tlv(0x30, ...content);
const integer = (bytes: Buffer): Buffer => tlv(0x02, bytes);
const identifier = (...bytes: readonly number[]): Buffer => tlv(0x06, Buffer.from(bytes));
const text = (tag: number, value: string): Buffer => tlv(tag, Buffer.from(value));

/** 1.2.840.10045.4.3.2 */
const ecdsaWithSha256 = sequence(identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));

/** The common name alone: 2.5.4.3. */
const nameOf = (name: string): Buffer =>
  sequence(tlv(0x31, sequence(identifier(0x55, 0x04, 0x03), text(0x0c, name))));

/** `YYMMDDHHMMSSZ`. */
const time = (at: number): Buffer =>
  text(0x17, `${new Date(at).toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`);

/** 2.5.29.17: the name, and 127.0.0.1. */
const altNames = (name: string): Buffer =>
  sequence(
    identifier(0x55, 0x1d, 0x11),
    tlv(0x04, sequence(text(0x82, name), tlv(0x87, Buffer.of(127, 0, 0, 1)))),
  );

/** 2.5.29.19, critical. */
const isAuthority = sequence(
  identifier(0x55, 0x1d, 0x13),
  tlv(0x01, Buffer.of(255)),
  tlv(0x04, sequence(tlv(0x01, Buffer.of(255)))),
);

const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
