import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  resourceOf,
  ServiceAccount,
} from '../../constructs/api/resources.ts';
import type { Rule } from '../../constructs/cluster/access-rules.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { rbacGroup } from '../../constructs/cluster/provider-names.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { connect, type Connection, loadKubeConfig } from '../../reconciler/kube/config.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { isAllowed } from '../../reconciler/clusters/dry-run/review.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import { until } from './until.ts';

/** Rules that an account has in one namespace, or in the whole cluster when it is unset. */
export interface Grant {
  readonly namespace: string | undefined;
  readonly rules: readonly Rule[];
}

export interface GrantedAccountOptions {
  /** An administrator's, of the same API server as the kubeconfig. */
  readonly client: KubeClient;
  /** Path of any kubeconfig of the API server. */
  readonly kubeconfig: string;
  /** The namespace of the ServiceAccount, which exists. */
  readonly namespace: string;
  /** The name of the ServiceAccount. */
  readonly name: string;
  readonly grants: readonly Grant[];
}

/** A kubelet does so when four fifths of an hour are over. */
const renewalMs = 20 * 60_000;

/** The name by which an API server knows a ServiceAccount. */
export function userOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/**
 * A ServiceAccount with exactly the given rights, and a kubeconfig of it. As in a pod, the token is in a file, which is renewed.
 */
export class GrantedAccount {
  readonly namespace: string;
  readonly name: string;
  readonly #client: KubeClient;
  readonly #directory: string;
  readonly #grants: Grant[] = [];
  #renewal: NodeJS.Timeout | undefined;

  private constructor({ client, namespace, name }: GrantedAccountOptions, directory: string) {
    this.namespace = namespace;
    this.name = name;
    this.#client = client;
    this.#directory = directory;
  }

  /** Creates the account, and resolves when the API server knows its rights. */
  static async create(options: GrantedAccountOptions): Promise<GrantedAccount> {
    const { client, kubeconfig, namespace, name, grants } = options;
    const account = new GrantedAccount(options, await mkdtemp(join(tmpdir(), 'account-')));
    const { apiVersion, kind } = ServiceAccount;
    await applyObjects(client, [{ apiVersion, kind, metadata: { namespace, name } }]);
    await account.#writeToken();
    account.#renewal = setInterval(() => void account.#writeToken().catch(() => {}), renewalMs).unref();
    await account.#writeKubeconfig(kubeconfig);
    for (const grant of grants) await account.grant(grant);
    return account;
  }

  /** The name by which the API server knows it, such as in an audit log. */
  get user(): string {
    return userOf(this);
  }

  /** Path of its kubeconfig. */
  get kubeconfig(): string {
    return join(this.#directory, 'kubeconfig');
  }

  /** A connection of the account, which the caller closes. */
  connect(): Promise<Connection> {
    return connect(loadKubeConfig(this.kubeconfig));
  }

  /** Grants more, and resolves when the API server knows it. */
  async grant(grant: Grant): Promise<void> {
    await applyObjects(this.#client, this.#objectsOf(grant, this.#grants.length));
    this.#grants.push(grant);
    const [first] = grant.rules;
    if (first) await until(`${this.user} to have its rights`, () => this.#has(first, grant.namespace));
  }

  /** Removes the account and its rights. */
  async end(): Promise<void> {
    clearInterval(this.#renewal);
    const { apiVersion, kind } = ServiceAccount;
    const account = { apiVersion, kind, metadata: { namespace: this.namespace, name: this.name } };
    const objects = [account, ...this.#grants.flatMap((grant, index) => this.#objectsOf(grant, index))];
    await Promise.all(objects.map((object) => this.#client.delete(resourceOf(object), object.metadata)));
    await rm(this.#directory, { recursive: true });
  }

  #has({ apiGroups, resources, resourceNames, verbs }: Rule, namespace = ''): Promise<boolean> {
    const [resource = '', subresource] = (resources[0] ?? '').split('/');
    const resourceAttributes = {
      namespace,
      name: resourceNames?.[0] ?? '',
      verb: verbs[0] ?? '',
      group: apiGroups[0] ?? '',
      resource,
      ...definedOnly({ subresource }),
    };
    return isAllowed({ username: this.user }, { resourceAttributes }, this.#client);
  }

  #objectsOf({ namespace, rules }: Grant, index: number): KubeObject[] {
    const [role, binding] = namespace === undefined ? [ClusterRole, ClusterRoleBinding] : [Role, RoleBinding];
    const name = `test:${this.namespace}:${this.name}:${index}`;
    const metadata = { name, ...definedOnly({ namespace }) };
    const subject = { kind: ServiceAccount.kind, namespace: this.namespace, name: this.name };
    const roleRef = { apiGroup: rbacGroup, kind: role.kind, name };
    const bound = { metadata, roleRef, subjects: [subject] };
    const granted = { metadata, rules };
    return [
      { apiVersion: role.apiVersion, kind: role.kind, ...granted },
      { apiVersion: binding.apiVersion, kind: binding.kind, ...bound },
    ];
  }

  /** Replaces the token in one step, for readers at any time. */
  async #writeToken(): Promise<void> {
    const { namespace, name } = this;
    const token = await this.#client.serviceAccountToken({ namespace, name });
    const next = `${this.#tokenFile}.next`;
    await writeFile(next, token, { mode: 0o600 });
    await rename(next, this.#tokenFile);
  }

  async #writeKubeconfig(ofServer: string): Promise<void> {
    const cluster = loadKubeConfig(ofServer).getCurrentCluster();
    if (!cluster) throw new Error(`${ofServer} names no cluster`);
    const ca = cluster.caData ?? (await readFile(cluster.caFile ?? '')).toString('base64');
    const server = { server: cluster.server, 'certificate-authority-data': ca };
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile: this.#tokenFile } } };
    const context = { cluster: 'test', user: this.name, namespace: this.namespace };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: server }],
      users: [{ name: this.name, user }],
      contexts: [{ name: 'test', context }],
      'current-context': 'test',
    };
    await writeFile(this.kubeconfig, JSON.stringify(config), { mode: 0o600 });
  }

  get #tokenFile(): string {
    return join(this.#directory, 'token');
  }
}
