import { backupIdentityAnnotation, backupTokenServicesAnnotation } from '../../../../constructs/api/group.ts';
import { ServiceAccount } from '../../../../constructs/api/resources.ts';
import { ClusterBackups } from '../../../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import type { StoreSettings } from '../../../../reconciler/backup/store/store-settings.ts';
import { createCA, issueCertificate, validFor } from '../../../../reconciler/pki/issue.ts';
import { storeSecret } from '../../../support/backup-secrets.ts';
import { type S3, startS3 } from '../../../support/s3.ts';
import { applyObjects } from '../../testbed/apply-objects.ts';
import { clusterName, namespaceName } from './fleet-clusters.ts';
import { hostilePorts } from './hostile-stores.ts';
import type { Fleet } from './measure.ts';

const hourMs = 3_600_000;
/** The operator connects to no loopback address that a tenant names. */
const goodStore = '10.190.0.1';
const secretName = 'bucket';
const account = 'backup';
export const periodMs = 60_000;
const backup = { schedule: '* * * * *', secret: { name: secretName }, verify: { disabled: true } };

/** A cluster whose store is hostile. */
export interface HostileBackup {
  readonly number: number;
  /** Signs in to its store by a token service, which is as hostile. */
  readonly hasTokenService: boolean;
  readonly isPatient: boolean;
}

/** Backups of a fleet each minute: of some clusters into a store that works, and of others into hostile ones. */
export class FleetBackups {
  readonly #fleet: Pick<Fleet, 'server' | 'clusters' | 'rights' | 'world'>;
  readonly #store: S3;

  private constructor(fleet: Pick<Fleet, 'server' | 'clusters' | 'rights' | 'world'>, store: S3) {
    this.#fleet = fleet;
    this.#store = store;
  }

  static async start(fleet: Pick<Fleet, 'server' | 'clusters' | 'rights' | 'world'>): Promise<FleetBackups> {
    return new FleetBackups(fleet, await startS3('tls', { host: goodStore }));
  }

  /** Lets clusters have backups into the store that works. */
  async begin(numbers: readonly number[]): Promise<void> {
    const secrets = numbers.map((number) => this.#secretOf(number, this.#store.settings));
    await applyObjects(this.#fleet.server.client, secrets);
    await this.#fleet.clusters.changeSome(numbers, { etcd: { backup } });
  }

  /** Lets clusters have backups into stores that are hostile, each into one of its own. */
  async beginHostile(hostile: readonly HostileBackup[]): Promise<void> {
    const { world, server, rights, clusters } = this.#fleet;
    const validity = validFor(hourMs * 24, new Date());
    const authority = await createCA({ commonName: 'hostile' }, validity);
    const hosts = hostile.map(({ number }) => addressOf(number));
    const plan = { commonName: 'hostile', organizations: [], usages: ['server'], hosts } as const;
    const pair = await issueCertificate(plan, authority, validity);
    const patient = hostile.filter(({ isPatient }) => isPatient);
    await world.serveHostileStores(
      pair,
      patient.map(({ number }) => addressOf(number)),
    );
    const { certificate: certificateAuthority } = authority;
    const secrets = hostile.map(({ number }) => {
      const endpoint = `https://${addressOf(number)}:${hostilePorts.store}`;
      return this.#secretOf(number, { ...this.#store.settings, endpoint, certificateAuthority });
    });
    const signingIn = hostile.filter(({ hasTokenService }) => hasTokenService).map(({ number }) => number);
    await applyObjects(server.client, [...secrets, ...signingIn.map(accountOf)]);
    for (const number of signingIn) await rights.grantBackupIdentity(namespaceName(number));
    await Promise.all(
      hostile.map(({ number, hasTokenService }) =>
        clusters.change(number, { etcd: { backup: { ...backup, ...(hasTokenService ? signIn(number) : {}) } } }),
      ),
    );
  }

  /** How many backups into the store that works are missing: one of each cluster and minute that has begun between these times. */
  async missed(numbers: readonly number[], from: number, to: number): Promise<number> {
    const store = new ObjectStore(this.#store.settings);
    const due: number[] = [];
    for (let time = Math.ceil(from / periodMs) * periodMs; time < to; time += periodMs) due.push(time);
    let missed = 0;
    for (const number of numbers) {
      const owner = { namespace: namespaceName(number), cluster: clusterName(number) };
      const { backups } = await new ClusterBackups(store, owner).list();
      missed += due.filter((at) => !backups.some(({ time }) => time >= at && time < at + periodMs)).length;
    }
    store.close();
    return missed;
  }

  async stop(): Promise<void> {
    await this.#store.stop();
  }

  #secretOf(number: number, settings: StoreSettings) {
    return storeSecret({ namespace: namespaceName(number), name: secretName }, settings);
  }
}

function addressOf(number: number): string {
  return `10.191.${number >> 8}.${number & 255}`;
}

function tokenServiceOf(number: number): string {
  return `${addressOf(number)}:${hostilePorts.tokenService}`;
}

function signIn(number: number) {
  const tokenServiceURL = `https://${tokenServiceOf(number)}`;
  return { webIdentity: { roleARN: 'arn:backup', serviceAccountName: account, audience: 'store', tokenServiceURL } };
}

function accountOf(number: number) {
  const annotations = {
    [backupIdentityAnnotation]: clusterName(number),
    [backupTokenServicesAnnotation]: tokenServiceOf(number),
  };
  const { apiVersion, kind } = ServiceAccount;
  return { apiVersion, kind, metadata: { name: account, namespace: namespaceName(number), annotations } };
}
