import { ports } from '../../constructs/cluster/ports.ts';
import { etcdHTTPPortName } from '../../constructs/control-plane/etcd/etcd.ts';
import type { PodObject } from '../kube/readiness.ts';

interface PodWithPorts extends PodObject {
  readonly spec?: {
    readonly containers?: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
}

/** The port at which a member serves HTTP: that of its clients in pods of the first release revision. */
export function etcdHTTPPort({ spec }: PodWithPorts): number {
  const declared = spec?.containers?.flatMap((container) => container.ports ?? []) ?? [];
  return declared.find(({ name }) => name === etcdHTTPPortName)?.containerPort ?? ports.etcdClient;
}
