import { afterAll, beforeAll, inject } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { signedInUser } from '../../support/signed-in-user.ts';
import { TokenIssuer } from '../../support/token-issuer.ts';
import { until } from '../../support/until.ts';
import type { Workbench } from '../../support/workbench.ts';
import { instanceFrom, lanAddress } from '../../tools/testbed/instance.ts';

/** An issuer of tokens for the tests of a `describe`, whom a control plane may be configured to trust. */
export function issuerFor(bench: Workbench, cluster: string) {
  let issuer: TokenIssuer;
  beforeAll(async () => {
    issuer = await TokenIssuer.create(lanAddress(instanceFrom(process.env, inject('testbed')), 1));
    await issuer.open();
  });
  afterAll(() => issuer.close());

  const signIn = async () => {
    const hosted = await bench.hosted(cluster);
    const server = hosted.connection.baseUrl;
    await hosted.connection.close();
    const secret = { namespace: bench.namespace, name: `${cluster}-ca` };
    const ca = valueOf(await bench.client.get(Secret, secret), 'tls.crt') ?? '';
    return signedInUser({ server, ca }, issuer.token({ aud: 'kubernetes', sub: 'alice' })).catch(() => undefined);
  };
  return {
    /** Trusts it, with this expression for the names of its users. */
    configure: (username: string) =>
      bench.patch(cluster, {
        spec: {
          oidcProviders: {
            [issuer.url]: {
              certificateAuthority: issuer.certificateAuthority,
              audiences: ['kubernetes'],
              claimMappings: { username },
            },
          },
        },
      }),
    untilUser: (name: string) =>
      until(`the API server to know ${name}`, async () => (await signIn())?.username === name, 120_000),
  };
}
