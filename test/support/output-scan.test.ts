import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Needles, scanDirectory } from './output-scan.ts';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'scan-'))));
afterEach(() => rmSync(directory, { recursive: true }));

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
const der = privateKey.export({ type: 'pkcs8', format: 'der' });
const token = 'abcdef.0123456789abcdef';
const encryptionKey = randomBytes(32).toString('base64');
const hash = createHash('sha256').update(pem).digest('hex');
const encryption = `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nsecret: ${encryptionKey}\nhash: sha256:${hash}\n`;

function needles(): Needles {
  const found = new Needles();
  found.add('tls.key of Secret team/c1-ca', pem);
  found.add('token of Secret team/c1-token', token);
  found.add('config.yaml of Secret team/c1-encryption', encryption);
  return found;
}

describe('the scan of all output', () => {
  it.each<[string, string, string]>([
    ['a key as PEM', pem, 'a private key'],
    ['a line from the middle of a key', `x ${pem.split('\n')[1]} y`, 'tls.key'],
    ['a key in base64', Buffer.from(pem).toString('base64'), 'tls.key'],
    ['the DER of a key in base64', der.toString('base64'), 'tls.key'],
    ['the DER of a key in hexadecimal digits', `{"key":"${der.toString('hex')}"}`, 'tls.key'],
    [
      'a key that was not registered',
      generateKeyPairSync('rsa', { modulusLength: 2048 })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      'a private key',
    ],
    ['the header of a key in an older format', sec1, 'a private key'],
    ['a token', `Authorization: Bearer ${token}`, 'token'],
    ['a key from a file in YAML', `{"secret":"${encryptionKey}"}`, 'config.yaml'],
    ['a token in base64', Buffer.from(token).toString('base64'), 'token'],
  ])('finds %s, and reports file and line but not the secret', async (_, planted, what) => {
    writeFileSync(join(directory, 'unit.log'), `all is well\nerror: ${planted}\n`);
    const found = await scanDirectory(directory, needles());
    expect(found[0]).toMatchObject({ file: 'unit.log', line: 2 });
    expect(found[0]?.what).toContain(what);
    expect(JSON.stringify(found)).not.toContain(planted.slice(0, 40));
  });

  it('finds a key at the end of a line of megabytes', async () => {
    writeFileSync(join(directory, 'long.json'), `${'- '.repeat(1_000_000)}${der.toString('hex')}`);
    expect(await scanDirectory(directory, needles())).toHaveLength(1);
  });

  it('accepts certificates, public keys, words of a file in YAML, and short values', async () => {
    const known = needles();
    known.add('user of Secret team/store', 'short');
    const text = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    writeFileSync(
      join(directory, 'unit.log'),
      `${text}\n${Buffer.from(text).toString('base64')}\nshort\n${encryption.split('\n')[0]}\n${hash}\n`,
    );
    expect(await scanDirectory(directory, known)).toEqual([]);
  });
});
