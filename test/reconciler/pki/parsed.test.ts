import { createPublicKey } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createKey } from '../../../reconciler/pki/key.ts';
import { parsedRequest } from '../../../reconciler/pki/parsed.ts';
import { createClientRequest } from '../../../reconciler/pki/signing-request.ts';

const key = createKey();
const request = await createClientRequest('jane', [], key);

it('a request in PEM is read, also with the ends of lines of Windows', () => {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  for (const text of [request, request.trimEnd(), request.replaceAll('\n', '\r\n')])
    expect(Buffer.from(parsedRequest(text).publicKey.rawData)).toEqual(publicKey);
});

/** The library's own pattern reads each of these lines in two ways, twice as many ways with each line. */
const headers = (lines: number) => `-----BEGIN X-----\nk: v\n${' a: b\n'.repeat(lines)}!`;

// With few lines it would be read, and with many of them never to the end. API servers admit both.
it.each([
  ['after it, few', `${request}${headers(4)}`],
  ['after it, many', `${request}${headers(4000)}`],
  ['before it', `${headers(4000)}\n${request}`],
  ['in it', request.replace('\n', `\nk: v\n${' a: b\n'.repeat(4000)}\n`)],
  ['instead of it', Buffer.from(headers(4000)).toString('base64')],
])('a request with lines that look like headers %s is refused at once', (_, text) => {
  expect(() => parsedRequest(text)).toThrow('it is not a certificate request in PEM');
});

it('nothing else gives a text of others to the library', async () => {
  const directory = join(import.meta.dirname, '../../../reconciler');
  const files = (await readdir(directory, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const users = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join(directory, file), 'utf8');
      return /new x509\.(X509Certificate|Pkcs10CertificateRequest|PublicKey)\(/.test(source) ? [file] : [];
    }),
  );
  expect(users.flat()).toEqual(['pki/parsed.ts']);
});
