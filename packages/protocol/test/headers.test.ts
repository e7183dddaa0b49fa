import { describe, expect, it } from 'vitest';
import { challenge, compareVersions, isLoopback, parseExtensions, parseVersion } from '../src/headers.ts';

describe('parseVersion', () => {
  it.each([
    ['1.0', '1.0'],
    ['1.0.1', '1.0'],
    [' 0.3.0 ', '0.3'],
    ['10.12', '10.12'],
    ['1', '1'],
    ['latest', 'latest'],
    ['1.0-beta', '1.0-beta'],
    ['', undefined],
    ['  ', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('reads %j as %j [R-VER-02, R-VER-04]', (text, version) => {
    expect(parseVersion(text)).toBe(version);
  });
});

describe('parseExtensions', () => {
  it('splits, trims and merges several headers, dropping empty and repeated members [R-HDR-02]', () => {
    expect(
      parseExtensions('https://a.example/x , ,https://b.example', undefined, null, 'https://a.example/x,c'),
    ).toEqual(['https://a.example/x', 'https://b.example', 'c']);
    expect(parseExtensions(undefined, '')).toEqual([]);
  });
});

describe('challenge', () => {
  it('names a scheme with its parameters [R-ERR-08]', () => {
    expect(challenge('Bearer', { realm: 'oauth', scope: 'a b' })).toBe('Bearer realm="oauth", scope="a b"');
  });

  it('is one header, whatever the parameters are', () => {
    expect(challenge('X', { realm: 'a"b\\c\r\nSet-Cookie: d=é\0' })).toBe(
      'X realm="a\\"b\\\\c??Set-Cookie: d=??"',
    );
  });
});

it('versions are compared by their numbers', () => {
  const versions = ['0.3', '1.10', 'odd', '1.0.1', '1.9', '0.2.5'];
  expect(versions.sort(compareVersions)).toEqual(['odd', '0.2.5', '0.3', '1.0.1', '1.9', '1.10']);
});

// biome-ignore format: a table reads best with one row per line
it.each([
  ['localhost', true], ['LOCALHOST', true], ['localhost.', false], ['127.0.0.1', true], ['127.255.1.22', true], ['::1', true], ['[::1]', true], ['a.localhost', true],
  ['xlocalhost', false], ['localhost.x', false], ['127.0.0', false], ['x127.0.0.1', false], ['127.0.0.1.x', false], ['::2', false], ['[::1', false], ['.localhost.x', false], ['.localhost', false], ['0.0.0.0', false], ['', false],
])('that %s is this machine is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
