import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
export const hashOf = (bytes: string | Uint8Array, kind = 'sha256'): string =>
  createHash(kind).update(bytes).digest('hex');

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Why a request is not signed as AWS Signature Version 4 says, as the code of S3; undefined if it is. */
export function faultOfSignature(
  { method = '', url = '', headers }: IncomingMessage,
  body: Uint8Array,
  keys: Readonly<Record<string, string>>,
): string | undefined {
  const [, id = '', date = '', region = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (!signature) return 'AccessDenied';
  const secret = keys[id];
  if (secret === undefined) return 'InvalidAccessKeyId';
  const signed = names.split(';');
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (mustBeSigned.some((name) => !signed.includes(name))) return 'AccessDenied';
  const time = String(headers['x-amz-date']);
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(at - Date.now()) < 900_000) || !time.startsWith(date)) return 'RequestTimeTooSkewed';
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const canonical = [
    method,
    decodeURIComponent(pathname).split('/').map(encoded).join('/'),
    [...searchParams]
      .map((pair) => pair.map(encoded).join('='))
      .sort()
      .join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/\s+/g, ' ')}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const key = [date, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const wanted = hmac(key, ['AWS4-HMAC-SHA256', time, scope, hashOf(canonical)].join('\n')).toString('hex');
  if (wanted !== signature) return 'SignatureDoesNotMatch';
  return headers['x-amz-content-sha256'] === hashOf(body) ? undefined : 'XAmzContentSHA256Mismatch';
}
