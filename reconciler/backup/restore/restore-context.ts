import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { StoreReader } from '../store/store-access.ts';
import type { OpenEtcd } from '../../etcd/access.ts';
import type { EtcdLoop } from '../../etcd/loop.ts';
import type { Clock } from '../../kube/clock.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { RunState } from '../../run-state/run-state.ts';
import type { Work } from '../../engine/tasks/background-work.ts';

/** What a restore works with. */
export interface RestoreContext extends ControlPlaneContext {
  /** The cluster for which data is restored. */
  readonly restored: HostedCluster;
  /** Whether the control plane serves or stops, and why. */
  readonly runState: RunState;
  readonly facts: Facts;
  /** Background work, such as uploads, for which no reconcile waits. */
  readonly work: Work;
  /** Manages etcd's members, independent of reconciles. */
  readonly etcdLoop: EtcdLoop;
  /** Opens clients of etcd's members, for backups and restores. */
  readonly openEtcd: OpenEtcd;
  readonly clock: Clock;
  /** Reads the objects that are needed to open a backup store. */
  readonly storeReader: StoreReader;
}
