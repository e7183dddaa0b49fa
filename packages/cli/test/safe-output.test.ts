import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText } from '../src/output/clean.ts';
import { jsonText } from '../src/output/json-text.ts';
import { Redactor } from '../src/output/output.ts';
import { serveMany } from './agents.ts';
import { cli } from './cli.ts';
import { serveSecured } from './secured-agent.ts';

/** Every character below U+3000, which holds all controls and all marks of direction. */
const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
const isControl = (character: string) => /\p{Cc}/u.test(character);
const isDirection = (character: string) => /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(character);
const separators = ['\u2028', '\u2029'];

describe('text of an agent', () => {
  it('keeps no character that a terminal obeys but line feeds and tabs', () => {
    const kept = (text: string, clean: (text: string) => string) => clean(text) === text;
    // Marks that only say which way the next word runs belong to text in Arabic and Hebrew.
    const marks = ['\u061c', '\u200e', '\u200f'];
    const refused = characters.filter(
      (each) =>
        (isControl(each) && each !== '\n' && each !== '\t') ||
        (isDirection(each) && !marks.includes(each)) ||
        separators.includes(each),
    );
    expect(characters.filter((each) => !kept(each, cleanText))).toEqual(refused);
    expect(cleanText('a\r\nb\rc')).toBe('a\nb\u{fffd}c');
    expect(cleanLine('a\nb\tc')).toBe('a b\tc');
  });

  it('is JSON of the same value, in which no such character stands as it is', () => {
    for (const isLine of [true, false]) {
      const text = jsonText({ [characters.join('')]: characters }, isLine);
      expect(JSON.parse(text)).toEqual({ [characters.join('')]: characters });
      const left = [...new Set(text)].filter(
        (each) => isControl(each) || isDirection(each) || separators.includes(each),
      );
      expect(left).toEqual(isLine ? [] : ['\n']);
    }
  });

  it('is escaped in results and in errors with -o json', async () => {
    const url = await serveMany();
    const { stdout, json } = await cli(`send -a ${url} -o json colours`);
    expect(stdout).toContain('\\u009b2J');
    expect(json.task.artifacts[0].parts[0].text).toContain('\u009b2J');
    const named = await serveSecured({
      name: 'Evil \u202e\u009b2J',
      securityRequirements: [{ schemes: { b: { list: [] } } }],
    });
    const failed = await cli(`send -a ${named.url} -o json hello`);
    expect(failed.json.error.message).toContain('Evil \u202e\u009b2J');
    expect(failed.stdout).toContain('Evil \\u202e\\u009b2J');
  });
});

describe('a secret', () => {
  it('is hidden as it is, in a URL, in JSON, and before a shorter one that it contains', () => {
    const redactor = new Redactor();
    redactor.hide('a b');
    redactor.hide('x a b/"y"');
    const seen = [
      'x a b/"y"',
      encodeURIComponent('x a b/"y"'),
      JSON.stringify({ token: 'x a b/"y"' }),
      'a b',
      'a%20b',
    ];
    expect(seen.map((text) => redactor.redact(text))).toEqual([
      '[redacted]',
      '[redacted]',
      '{"token":"[redacted]"}',
      '[redacted]',
      '[redacted]',
    ]);
    redactor.hide('');
    redactor.hide(undefined);
    expect(redactor.redact('nothing')).toBe('nothing');
  });

  it.each([
    ['in a query', (secret: string) => `?${new URLSearchParams({ key: secret })}`, '?key=[redacted]'],
    ['beside others', (secret: string) => `%C3%BC${encodeURIComponent(secret)}ü`, '%C3%BC[redacted]ü'],
    ['with small letters', (secret: string) => encodeURIComponent(secret).toLowerCase(), '[redacted]'],
    ['in Base64', (secret: string) => `Basic ${btoa(secret)}`, 'Basic [redacted]'],
    ['after one character', (secret: string) => `Basic ${btoa(`:${secret}`)}`, 'Basic [redacted]'],
    ['after two characters', (secret: string) => `Basic ${btoa(`a:${secret}`)}`, 'Basic [redacted]'],
    ['in Base64 for URLs', (secret: string) => Buffer.from(secret).toString('base64url'), '[redacted]'],
  ])('is hidden %s', (_, write, expected) => {
    const secret = 'it+is/a(long)~secret*!?>';
    const redactor = new Redactor();
    redactor.hide(secret.toLowerCase());
    expect(redactor.redact(write(secret))).toBe(expected);
  });

  it('with letters of several bytes is hidden', () => {
    const redactor = new Redactor();
    redactor.hide('schlüssel');
    expect(redactor.redact('?a=schl%C3%BCssel&b=schl%c3%bcssel')).toBe('?a=[redacted]&b=[redacted]');
  });
});
