import type { FactsWith } from '../../../constructs/cluster/facts.ts';
import type { HostedAccess } from '../../clusters/hosted/hosted-client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { IssuerContext } from '../issuer/context.ts';
import type { Work } from '../../engine/tasks/background-work.ts';
import type { TrustProbes } from './trust-probes.ts';

/** What a rotation of a CA needs. */
export interface CARotationContext extends IssuerContext, HostedAccess {
  readonly facts: FactsWith<'endpoint' | 'konnectivityEndpoint'>;
  readonly trustProbes: TrustProbes;
  readonly work: Work;
  readonly clock: Clock;
}
