import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import {
  CertificateSigningRequest,
  EndpointSlice,
  Node,
  type Resource,
  ServiceAccount,
} from '../../../../constructs/api/resources.ts';
import { appliedKindsOf } from '../../../../constructs/workload/chart.ts';
import { rbacResources } from '../../../../reconciler/clusters/hosted/informers.ts';
import { emptyHostedCluster, settleHosted } from '../../../support/loop/memory-cluster.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { ServedApi } from '../../../support/memory-cluster/served-api.ts';
import { administrator } from '../../../support/memory-cluster/users.ts';
import { kubernetesVersion } from '../../../support/workbench.ts';

const resources: readonly Resource[] = [
  ...rbacResources,
  ...appliedKindsOf(kubernetesVersion).map(({ resource }) => resource),
  ServiceAccount,
  EndpointSlice,
  CertificateSigningRequest,
  Node,
];

/** As API servers send one to each watch. */
const bookmarkMs = 60_000;

/** The API server of one hosted cluster, in memory: what the operator and a controller manager leave there. */
export class HostedApi {
  readonly #server = emptyHostedCluster({ elapsed: Date.now });
  readonly client = new MemoryClient(this.#server, administrator('fleet'));
  readonly #served = new ServedApi({
    client: this.client,
    resources,
    onWritten: () => settleHosted(this.#server),
    bookmarkMs,
  });

  constructor() {
    settleHosted(this.#server);
  }

  answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    return this.#served.answer(request, response);
  }
}
