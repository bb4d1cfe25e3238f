import type { SecretObject } from '../../imports/kubernetes.ts';
import { apiServerThat, tokenSignedBy } from './api-server-answers.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { restartsWith, restartsWithAnnotation } from '../../constructs/pod/component.ts';
import { objectLabels, selectorLabels } from '../../constructs/cluster/labels.ts';
import { Deployment, Pod, Secret } from '../../constructs/api/resources.ts';
import type { Clock } from '../../reconciler/kube/clock.ts';
import { signerFingerprint } from '../../reconciler/pki/pem.ts';
import { idOfPrivateKey, verifyingKeysOf } from '../../reconciler/pki/service-account-keys.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import type { HostedClient } from '../../reconciler/clusters/hosted/hosted-client.ts';
import type { MemoryObjects } from './memory-objects.ts';

interface Loaded {
  readonly accepted: readonly string[];
  readonly signer: string;
  readonly fingerprint: string;
}

const defaultHours = 8_760;

/**
 * API servers and a controller manager that load service account keys when they restart, one after the other, and the
 * tokens they signed. It is an error if an API server refuses a token that has not expired.
 */
export class KeyUsers {
  readonly #management: MemoryObjects;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #servers = new Map<string, Loaded>();
  #manager: Loaded;
  #tokens: { readonly key: string; readonly until: number }[] = [];
  readonly #kept = new Map<string, string>();
  readonly #silent = new Set<string>();
  readonly #held = new Set<string>();
  #hours = defaultHours;
  #lives = 0;

  constructor(management: MemoryObjects, clock: Pick<Clock, 'now'>) {
    this.#management = management;
    this.#clock = clock;
    this.#manager = this.#present();
    for (const podIP of ['192.0.2.1', '192.0.2.2']) this.#startServer(podIP);
    this.#startManager();
    this.allowHours(defaultHours);
  }

  /** The hosted client that the phase gets. */
  get client(): Partial<HostedClient> {
    const loaded = (address: string): Loaded => {
      if (this.#silent.has(address)) throw new Error(`${address} is silent`);
      const found = this.#servers.get(address);
      if (!found) throw new Error(`no API server at ${address}`);
      return found;
    };
    return {
      at: async (address, _identity, work) =>
        work(
          apiServerThat({ verifyingKeys: () => loaded(address).accepted, signingKey: () => loaded(address).signer }),
        ),
      asAdministrator: (work) => work(apiServerThat({ secrets: () => [...this.#kept].map(tokenSecret) })),
    };
  }

  /** The keys that each API server accepts. */
  get accepted(): (readonly string[])[] {
    return [...this.#servers.values()].map(({ accepted }) => accepted);
  }

  /** Redeploys the API servers with this maximum token lifetime. Tokens are signed for as long as allowed. */
  allowHours(hours: number): void {
    this.#hours = hours;
    const args = [`--service-account-max-token-expiration=${hours}h`];
    this.#deploy('api-server', 2, [{ name: 'kube-apiserver', args }]);
    this.#deploy('controller-manager', 1, []);
  }

  /** Whether the API server with this address, or `controller-manager`, is kept from restarting. */
  hold(who: string, isHeld: boolean): void {
    if (isHeld) this.#held.add(who);
    else this.#held.delete(who);
  }

  /** From now on the API server with this address does not answer the operator, but keeps working. */
  silence(address: string): void {
    this.#silent.add(address);
  }

  /** The controller manager stores a token without expiry in a Secret. */
  keepToken(secret: string): void {
    this.#kept.set(secret, this.#manager.signer);
  }

  /** The controller manager renews all stored tokens. */
  renewKeptTokens(): void {
    for (const secret of this.#kept.keys()) this.keepToken(secret);
  }

  /** One process restarts, all of them sign, and every token is presented to every API server. @throws when one is refused */
  live(): void {
    const addresses = [...this.#servers.keys()];
    const turn = this.#lives++ % (addresses.length + 1);
    const who = addresses[turn] ?? 'controller-manager';
    if (!this.#held.has(who)) this.#start(who);
    const now = this.#clock.now();
    this.#tokens = this.#tokens.filter(({ until }) => until > now);
    const until = now + this.#hours * 3600_000;
    for (const { signer } of this.#servers.values()) this.#tokens.push({ key: signer, until });
    const keys = new Set([...this.#tokens.map(({ key }) => key), ...this.#kept.values(), this.#manager.signer]);
    for (const [server, { accepted }] of this.#servers) {
      const refused = [...keys].filter((key) => !accepted.includes(key));
      if (refused.length > 0) throw new Error(`${server} refuses tokens of ${refused.join(', ')}`);
    }
  }

  #present(): Loaded {
    const secret = this.#management.get<SecretObject>(Secret, 'c1-sa');
    const certificate = valueOf(secret, 'tls.crt') ?? '';
    return {
      accepted: verifyingKeysOf(certificate).map(({ id }) => id),
      signer: idOfPrivateKey(valueOf(secret, 'tls.key') ?? ''),
      fingerprint: signerFingerprint(certificate),
    };
  }

  #start(who: string): void {
    if (who === 'controller-manager') this.#startManager();
    else this.#startServer(who);
  }

  #startServer(podIP: string): void {
    this.#servers.set(podIP, this.#present());
    this.#putPod(`api-server-${podIP}`, 'api-server', {}, podIP);
  }

  #startManager(): void {
    this.#manager = this.#present();
    const entry = restartsWith({ 'c1-sa/signer': this.#manager.fingerprint.slice(0, 12) }) ?? '';
    this.#putPod('controller-manager', 'controller-manager', { [restartsWithAnnotation]: entry }, '192.0.2.9');
  }

  #putPod(
    name: string,
    component: 'api-server' | 'controller-manager',
    annotations: Readonly<Record<string, string>>,
    podIP: string,
  ): void {
    const { apiVersion, kind } = Pod;
    const uid = `${name}-${this.#lives}`;
    this.#management.put({
      apiVersion,
      kind,
      metadata: { name, uid, labels: selectorLabels('c1', component), annotations },
      status: { podIP, phase: 'Running' },
    });
  }

  #deploy(component: 'api-server' | 'controller-manager', replicas: number, containers: readonly object[]): void {
    const { apiVersion, kind } = Deployment;
    const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas };
    this.#management.put({
      apiVersion,
      kind,
      metadata: { name: `c1-${component}`, labels: objectLabels('c1', component), generation: 1 },
      spec: { replicas, template: { spec: { containers } } },
      status: { observedGeneration: 1, ...counts },
    });
  }
}

/** The Secret that stores a token without expiry, by `namespace/name`. */
function tokenSecret([key, signer]: readonly [string, string | undefined]): KubeObject {
  const { apiVersion, kind } = Secret;
  const [namespace = '', name = ''] = key.split('/');
  const token = Buffer.from(tokenSignedBy(signer)).toString('base64');
  return { apiVersion, kind, metadata: { namespace, name }, data: { token } } as KubeObject;
}
