import type { PodObject } from '../../imports/kubernetes.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { etcdHTTPPortName } from '../../constructs/control-plane/etcd/etcd.ts';

/** The port at which a member serves HTTP: that of its clients in pods of the first release revision. */
export function etcdHTTPPort({ spec }: PodObject): number {
  const declared = spec?.containers?.flatMap((container) => container.ports ?? []) ?? [];
  return declared.find(({ name }) => name === etcdHTTPPortName)?.containerPort ?? ports.etcdClient;
}
