import { describe, expect, it } from 'vitest';
import { readStoreSettings } from '../../../../reconciler/backup/store/store-settings.ts';

const keys = {
  accessKeyIDKey: 'accessKeyID',
  secretAccessKeyKey: 'secretAccessKey',
  hostKey: 'host',
  regionKey: 'region',
  bucketKey: 'bucket',
  certificateAuthorityKey: 'ca.crt',
};
const full = { accessKeyID: 'AKIA', secretAccessKey: 's3cr3t', region: 'eu-central-1', bucket: 'backups' };

const read = (content: Readonly<Record<string, string>>): ReturnType<typeof readStoreSettings> =>
  readStoreSettings(
    Object.fromEntries(Object.entries(content).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    keys,
  );

describe('the settings of a store', () => {
  it('are read from a Secret, and are those of AWS without a host', () => {
    expect(read(full)).toEqual({
      endpoint: undefined,
      region: 'eu-central-1',
      bucket: 'backups',
      prefix: '',
      certificateAuthority: undefined,
      credentials: { kind: 'static', accessKeyId: 'AKIA', secretAccessKey: 's3cr3t' },
    });
  });

  it('may end in a newline as echo writes them', () => {
    const lines = Object.fromEntries(Object.entries(full).map(([key, text]) => [key, `${text}\n`]));
    expect(read(lines)).toEqual(read(full));
  });

  it.each([
    ['s3.example.com', 'https://s3.example.com'],
    ['s3.example.com:9000', 'https://s3.example.com:9000'],
    ['[fd00::1]:9000', 'https://[fd00::1]:9000'],
    ['http://minio.storage:9000/', 'http://minio.storage:9000'],
  ])('translate host %s to endpoint %s', (host, expected) => {
    expect(read({ ...full, host }).endpoint).toBe(expected);
  });

  it.each([
    ['backups', 'backups', ''],
    ['backups/', 'backups', ''],
    ['backups/eu/prod/', 'backups', 'eu/prod'],
  ])('divide %s into bucket %s and prefix "%s"', (bucket, expected, prefix) => {
    expect(read({ ...full, bucket })).toMatchObject({ bucket: expected, prefix });
  });

  it.each([
    [{ accessKeyID: 'AKIA', region: ' ' }, 'the Secret has no secretAccessKey, region, bucket: add them'],
    [{ ...full, bucket: '' }, 'the Secret has no bucket: add it'],
    [{ ...full, bucket: '/x' }, 'bucket of the Secret is not bucket or bucket/prefix'],
    [{ ...full, bucket: 'b/../x' }, 'bucket of the Secret is not bucket or bucket/prefix'],
    [{ ...full, bucket: 'b//x' }, 'bucket of the Secret is not bucket or bucket/prefix'],
    [{ ...full, host: 'https://s3.example.com/backups' }, 'host of the Secret is not host[:port]'],
    [{ ...full, host: 'https://user:pw@s3.example.com' }, 'host of the Secret is not host[:port]'],
    [{ ...full, host: 's3 example' }, 'host of the Secret is not host[:port]'],
  ])('are refused for %j', (content, message) => {
    expect(() => read(content)).toThrow(message);
    expect(() => read(content)).not.toThrow(/s3cr3t|AKIA|pw@/);
  });
});
