import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { freePort } from './free-port.ts';

const hourMs = 3600_000;

interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** An OpenID Connect issuer on this machine, with a CA of its own: discovery and keys, as API servers read them. */
export class TokenIssuer {
  readonly url: string;
  /** PEM of the CA that its certificate is from. */
  readonly certificateAuthority: string;
  readonly #pair: KeyPair;
  readonly #host: string;
  readonly #port: number;
  #keys: readonly SigningKey[] = [newKey(1)];
  #server: Server | undefined;

  private constructor(host: string, port: number, certificateAuthority: string, pair: KeyPair) {
    this.url = `https://${host}:${port}`;
    this.certificateAuthority = certificateAuthority;
    this.#pair = pair;
    this.#host = host;
    this.#port = port;
  }

  /**
   * Chooses its port. It answers nothing before {@link open}.
   * @param host address of this machine by which API servers reach it
   */
  static async create(host = '127.0.0.1'): Promise<TokenIssuer> {
    const validity = validFor(hourMs, new Date());
    const authority = await createCA({ commonName: 'token issuer' }, validity);
    const plan = { commonName: 'issuer', organizations: [], usages: ['server'], hosts: [host] } as const;
    const pair = await issueCertificate(plan, authority, validity);
    return new TokenIssuer(host, await freePort(), authority.certificate, pair);
  }

  async open(): Promise<void> {
    const { certificate: cert, key } = this.#pair;
    const server = createServer({ cert, key }, ({ url = '' }, response) => {
      const document = this.#documents()[url];
      response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(document ?? {}));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, this.#host, resolve));
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  /** Signs with a new key from now on. The one before stays published. */
  rotate(): void {
    this.#keys = [newKey(this.#keys.length + 1), ...this.#keys];
  }

  /** A token of this issuer; claims that are given replace its own. */
  token(claims: Readonly<Record<string, unknown>>, key: SigningKey = this.#signer): string {
    const seconds = Math.floor(Date.now() / 1000);
    const payload = { iss: this.url, iat: seconds - 60, exp: seconds + 3600, ...claims };
    const text = [{ alg: 'ES256', kid: key.id, typ: 'JWT' }, payload].map(base64url).join('.');
    const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** A token with the ID of the signing key, signed by a key that is not published. */
  forgedToken(claims: Readonly<Record<string, unknown>>): string {
    return this.token(claims, { ...newKey(0), id: this.#signer.id });
  }

  get #signer(): SigningKey {
    return this.#keys[0]!;
  }

  #documents(): Readonly<Record<string, object>> {
    return {
      '/.well-known/openid-configuration': {
        issuer: this.url,
        authorization_endpoint: `${this.url}/authorize`,
        jwks_uri: `${this.url}/keys`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      },
      '/keys': {
        keys: this.#keys.map(({ id, publicKey }) => ({
          ...publicKey.export({ format: 'jwk' }),
          kid: id,
          use: 'sig',
          alg: 'ES256',
        })),
      },
    };
  }
}

function newKey(number: number): SigningKey {
  return { id: `key-${number}`, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
