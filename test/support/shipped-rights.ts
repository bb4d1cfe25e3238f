import { Secret, ServiceAccount } from '../../constructs/api/resources.ts';
import { type Rule, rulesOf, type Verb } from '../../constructs/cluster/access-rules.ts';
import { providerNames, providerNamespace } from '../../constructs/cluster/provider-names.ts';
import { backupIdentityAccess } from '../../constructs/provider/granted-access.ts';
import { renderProvider } from '../../constructs/provider/chart.ts';
import { renderOperatorPolicy } from '../../constructs/provider/operator-policy.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { Connection } from '../../reconciler/kube/config.ts';
import type { KubeObject, ObjectName } from '../../reconciler/kube/object.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import { type Grant, GrantedAccount } from './granted-account.ts';

export interface ShippedRightsOptions {
  /** An administrator's, of the same API server as the kubeconfig. */
  readonly client: KubeClient;
  /** Path of any kubeconfig of the API server. */
  readonly kubeconfig: string;
  /** The namespace of the installation, which exists. */
  readonly namespace: string;
  /** The only namespace of control planes. By default all. */
  readonly watchNamespace?: string | undefined;
  /** The name of the ServiceAccount, to tell several operators apart in an audit log. By default that of the installation. */
  readonly account?: string;
}

/**
 * The rights that an installation of the provider gives to its operator. Tests run operators by nothing else: only {@link grant}
 * makes such a value, from the roles that the installation renders, and it lends no rights but these.
 */
export class ShippedRights {
  /** The only namespace of control planes; undefined for all. */
  readonly watchNamespace: string | undefined;
  readonly #account: GrantedAccount;

  private constructor(account: GrantedAccount, watchNamespace: string | undefined) {
    this.#account = account;
    this.watchNamespace = watchNamespace;
  }

  static async grant({
    account: name = providerNames.serviceAccount,
    watchNamespace,
    ...place
  }: ShippedRightsOptions): Promise<ShippedRights> {
    const grants = operatorGrants({ namespace: place.namespace, watchNamespace });
    await limitOperators(place.client, name);
    return new ShippedRights(await GrantedAccount.create({ ...place, name, grants }), watchNamespace);
  }

  /** The name of the operator in an audit log. */
  get user(): string {
    return this.#account.user;
  }

  /** Path of a kubeconfig with these rights, for an operator in a process of its own. */
  get kubeconfig(): string {
    return this.#account.kubeconfig;
  }

  /** A connection with these rights, which the caller closes. */
  connect(): Promise<Connection> {
    return this.#account.connect();
  }

  /** Grants what the documentation requests for a Secret of a backup store in another namespace. */
  grantBackupSecret(secret: ObjectName): Promise<void> {
    return this.#grantSecret(secret, ['get']);
  }

  /** Grants what the documentation requests for a Secret of an audit receiver in another namespace. */
  grantAuditSecret(secret: ObjectName): Promise<void> {
    return this.#grantSecret(secret, ['get', 'list', 'watch']);
  }

  /** Grants what the documentation requests for a namespace whose control planes use `etcd.backup.webIdentity`. */
  async grantBackupIdentity(namespace: string): Promise<void> {
    await this.#account.grant({ namespace, rules: rulesOf(backupIdentityAccess) });
  }

  /** Grants what the documentation requests for infrastructure objects of another API group, in all namespaces. */
  async grantInfrastructure(apiGroup: string): Promise<void> {
    const rules: Rule[] = [{ apiGroups: [apiGroup], resources: ['*'], verbs: ['get', 'patch'] }];
    await this.#account.grant({ namespace: undefined, rules });
  }

  /** Takes the rights back, and removes the account. */
  end(): Promise<void> {
    return this.#account.end();
  }

  async #grantSecret({ namespace, name }: ObjectName, verbs: readonly Verb[]): Promise<void> {
    const rules = rulesOf([{ resource: Secret, names: [name], verbs, why: 'control planes use it' }]);
    await this.#account.grant({ namespace, rules });
  }
}

/**
 * Installs the policies of an installation, as its operators have them: one for all operators of an API server with the name of the
 * installation, which stays, and one for each other name.
 */
async function limitOperators(client: KubeClient, serviceAccount: string): Promise<void> {
  const isUsual = serviceAccount === providerNames.serviceAccount;
  const own = isUsual ? {} : { watchNamespace: serviceAccount };
  await applyObjects(client, renderOperatorPolicy({ namespace: providerNamespace, serviceAccount, ...own }));
}

interface Binding extends KubeObject {
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

/** What the objects of an installation bind to its operator. */
export function operatorGrants(installation: { namespace: string; watchNamespace?: string | undefined }): Grant[] {
  const { namespace, watchNamespace } = installation;
  const objects = renderProvider({ namespace, ...(watchNamespace !== undefined && { watchNamespace }) });
  const isOperator = ({ kind, name }: { kind: string; name: string }) =>
    kind === ServiceAccount.kind && name === providerNames.serviceAccount;
  return objects.flatMap((object) => {
    const { metadata, roleRef, subjects = [] }: Binding = object;
    if (!roleRef || !subjects.some(isOperator)) return [];
    const role: (KubeObject & { readonly rules?: readonly Rule[] }) | undefined = objects.find(
      ({ kind, metadata: of }) =>
        kind === roleRef.kind && of.name === roleRef.name && of.namespace === metadata.namespace,
    );
    if (!role?.rules) throw new Error(`the installation renders no ${roleRef.kind} ${roleRef.name}`);
    return [{ namespace: metadata.namespace, rules: role.rules }];
  });
}
