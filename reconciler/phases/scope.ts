import type { ConditionType } from '../../constructs/api/conditions.ts';
import type { FactName, FactsWith } from '../../constructs/cluster/facts.ts';
import type { ManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import type { AwaitedFinalBackup } from '../backup/final-backup.ts';
import type { RestoreContext } from '../backup/restore/restore-context.ts';
import type { DesiredState } from '../desired-state/desired-state.ts';
import type { Outcome } from '../engine/outcome.ts';
import type { Phase as RunnablePhase } from '../engine/run-phases.ts';
import type { EndpointProbe } from '../clusters/exposure/endpoint-probes.ts';
import type { HostedClient } from '../clusters/hosted/hosted-client.ts';
import type { OnRefused } from '../kube/apply-set.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { DeletionWriter, Reader, SharedResources } from '../clusters/management/view.ts';
import type { HasAgent } from '../clusters/pods/has-agent.ts';
import type { TrustProbes } from '../certificates/ca/trust-probes.ts';

/** The input of a phase in one reconcile. */
export interface Scope<Established extends FactName = never> extends RestoreContext, DesiredState {
  readonly clusterObject: ClusterObject;
  /** The issuer of the management cluster's tokens; undefined when the platform names none. */
  readonly managementIssuer: ManagementIssuer | undefined;
  /** Issuers beyond its namespace that may sign the CAs of a control plane. */
  readonly clusterIssuers: readonly string[];
  /** Facts that the phases it needs have established. */
  readonly facts: FactsWith<Established>;
  readonly sharedResources: SharedResources;
  /** A client of the hosted cluster, with the credentials from its Secrets. */
  hosted(facts: FactsWith<'endpoint'>): HostedClient;
  readonly endpointProbe: EndpointProbe;
  /** Probes the host name of the tunnel. */
  readonly tunnelProbe: EndpointProbe;
  /** Asks for a while whether each API server has a konnectivity agent. */
  readonly agentsProbe: EndpointProbe;
  /** Asks for a while whether the pods of a component, which were refused, are accepted. */
  readonly podsProbe: (of: string) => EndpointProbe;
  readonly hasAgent: HasAgent;
  /** Probes servers of single pods for the CAs they trust and the certificate they present. */
  readonly trustProbes: TrustProbes;
  /**
   * Whether workers may have joined. From then on the operator reconciles everything that exists while an API server refuses an object:
   * that one stays as it is, and the condition of its phase has the words of the refusal.
   */
  readonly takesRefusals: boolean;
  /** Takes the refusals of this phase; undefined while a refusal ends it. */
  readonly onRefused?: OnRefused | undefined;
}

/** The input of a deletion. It needs neither a valid spec nor a Cluster. */
export interface DeletionScope {
  /** Name of the Cluster whose control plane is deleted. */
  readonly cluster: string;
  /** Metadata of the HostedControlPlane that is deleted. */
  readonly owner: ObjectMeta;
  /** Whether etcd's volumes are retained. */
  readonly retainVolumes: boolean;
  /** Takes the final backup after the last write to etcd, and returns what the deletion still waits for. */
  readonly finalBackup: () => AwaitedFinalBackup | undefined;
  readonly reader: Reader;
  readonly writer: DeletionWriter;
  readonly now: Date;
}

/** A step that establishes these facts, its needs' among them. */
export interface Phase<Established extends FactName = FactName> extends RunnablePhase<Scope> {
  /** Facts that hold once this phase is done; a phase that needs it reads them without asking. */
  readonly establishes: readonly Established[];
}

export type AnyPhase = RunnablePhase<Scope> & { readonly establishes: readonly FactName[] };

/** Facts that hold when all of these phases are done. */
export type EstablishedBy<Needs extends readonly AnyPhase[]> = Needs[number]['establishes'][number];

/**
 * Declares a phase. Its scope has the facts that its needs establish: reading another one as if it were there does not
 * compile, and neither does a phase that ends without a fact it promises.
 */
export function phase<const Needs extends readonly AnyPhase[], const Established extends FactName = never>(declared: {
  readonly condition: ConditionType;
  readonly needs: Needs;
  /** See {@link RunnablePhase}. */
  readonly after?: readonly AnyPhase[];
  /** Facts that this phase adds; none when unset. */
  readonly establishes?: readonly Established[];
  readonly run: (scope: Scope<EstablishedBy<Needs>>) => Promise<Outcome<Established>>;
  /** See {@link RunnablePhase}. */
  readonly meanwhile?: (scope: Scope) => string | undefined;
}): Phase<Established | EstablishedBy<Needs>> {
  const { condition, needs, after, establishes = [], run, meanwhile } = declared;
  return {
    condition,
    needs,
    after,
    establishes: [...needs.flatMap((need) => need.establishes as EstablishedBy<Needs>[]), ...establishes],
    // The graph runs a phase only when its needs are done, which is what its scope's type says.
    run: (scope) => run(scope as Scope<EstablishedBy<Needs>>),
    ...(meanwhile ? { meanwhile } : {}),
  };
}
