import { describe, expect, it } from 'vitest';
import { keyOf, storedTokens } from '../../../../reconciler/certificates/service-account-key/kept-tokens.ts';
import { signingKey, verifyingKeys } from '../../../../reconciler/certificates/service-account-key/proof.ts';

const token = (header: object) => `${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.c2ln`;

describe('the key of a token', () => {
  it.each([
    ['is read from its header', token({ alg: 'ES256', kid: 'first' }), 'first'],
    ['is unknown if the header names none', token({ alg: 'ES256' }), undefined],
    ['is unknown for text that is not a token', 'opaque', undefined],
    ['is unknown for an empty text', '', undefined],
  ])('%s', (_, text, key) => {
    expect(keyOf(text)).toBe(key);
  });
});

describe('for an API server', () => {
  it('the verifying keys are those that it publishes', async () => {
    const keys = [
      { kty: 'EC', use: 'sig', kid: 'first', alg: 'ES256', crv: 'P-256', x: 'x', y: 'y' },
      { kid: 'other' },
    ];
    const raw = async (path: string) => (path === '/openid/v1/jwks' ? JSON.stringify({ keys }) : '');
    expect(await verifyingKeys({ raw })).toEqual(['first', 'other']);
  });

  it.each(['', '{}', '{"keys":[{}]}'])(
    'an answer that is not a set of keys is an error, such as %s',
    async (answer) => {
      await expect(verifyingKeys({ raw: async () => answer })).rejects.toThrow('cannot read the token keys');
    },
  );

  it('the signing key is that of a token that only this API server accepts', async () => {
    const asked: unknown[] = [];
    const serviceAccountToken = async (...given: unknown[]) => {
      asked.push(given);
      return token({ kid: 'first' });
    };
    expect(await signingKey({ serviceAccountToken })).toBe('first');
    expect(asked).toEqual([[{ namespace: 'default', name: 'default' }, 'hosted-control-plane-key-proof']]);
  });
});

it('stored tokens are reported only by the names of their Secrets and the ids of their keys', async () => {
  const secret = (name: string, data: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'team', name },
    data,
  });
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const found = await storedTokens({
    async *pages(_, options) {
      expect(options).toEqual({ fieldSelector: 'type=kubernetes.io/service-account-token' });
      yield [secret('a', { token: encoded(token({ kid: 'first' })) }), secret('empty', {})];
      yield [secret('b', { token: encoded('odd') })];
    },
  });
  expect(found).toEqual([
    { secret: 'team/a', key: 'first' },
    { secret: 'team/b', key: undefined },
  ]);
});
