import type { Row } from './row.ts';

/** Owner, pause and endpoint. */
export const ownership = {
  'CP-15': {
    demand: 'The provider creates nothing before a Cluster owns the control plane.',
    proofs: [['reconciler/reconcile/reconciler.test', 'is not created before a Cluster owns it']],
  },
  'CP-16': {
    demand: 'The owner counts with and without the controller flag, in any version, and the shim Secret does not.',
    proofs: [
      ['reconciler/reconcile/admit.test', 'a controlling owner'],
      ['reconciler/reconcile/admit.test', 'an owner of another API version'],
      ['reconciler/reconcile/admit.test', "only a topology's shim Secret as owner"],
    ],
  },
  'CP-17': {
    demand: 'Names derive from the Cluster and never from the control plane, whose name a topology chooses.',
    proofs: [
      ['contract/core.test', 'finds everything under the name of the Cluster'],
      ['constructs/cluster/names.test', "follow Cluster API's convention for Secrets that others look up"],
      [
        'constructs/cluster/names.test',
        'fit into labels for the longest allowed Cluster name, and not for a longer one',
      ],
    ],
  },
  'CP-18': {
    demand:
      'While the Cluster or the control plane is paused, the provider writes nothing but the condition Paused, and an event when it changes.',
    proofs: [
      ['contract/paused.test', 'only reports that it is paused, from its creation on, until it is resumed: %s'],
      [
        'reconciler/reconcile/reconciler.test',
        'is not changed while it is paused, has the condition Paused, and is reconciled afterwards',
      ],
      ['reconciler/reconcile/reconciler.test', 'is not deleted while its Cluster is paused'],
      [
        'cluster/reconciler/paused.test',
        'a control plane that %s pauses gets no write but its condition, whatever others do, until it is resumed',
      ],
      ['cluster/reconciler/hosted.test', 'does not change a paused hosted cluster, and restores everything afterwards'],
    ],
  },
  'CP-19': {
    demand: 'A change of the Cluster causes a reconcile of its control plane.',
    proofs: [
      ['reconciler/operator/controller.test', 'of its Cluster'],
      ['cluster/reconciler/before-creation.test', 'a paused Cluster is not reconciled until it is resumed'],
    ],
  },
  'CP-20': {
    demand: 'The condition Paused says which of both pauses, and is False with a generation after the pause.',
    proofs: [
      ['contract/paused.test', 'only reports that it is paused, from its creation on, until it is resumed: %s'],
      ['reconciler/reconcile/reconciler.test', 'is not reported as paused after the pause when it %s'],
      ['contract/paused.test', 'is not reported as paused after the pause when another provider has made it'],
      ['reconciler/reconcile/reconciler.test', 'reports for what generation it has computed what'],
    ],
  },
  'CP-21': {
    demand: 'The provider knows host and port before it issues certificates of servers.',
    proofs: [['reconciler/reconcile/reconciler.test', 'is created in an order that is fast and safe']],
  },
  'CP-22': {
    demand: 'spec.controlPlaneEndpoint names the endpoint before the control plane is initialized.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['cluster/api/cluster-api.test', 'keeps the endpoint of the provider when the topology controller applies again'],
      ['system/demo.test', 'is Available for Cluster API'],
    ],
  },
  'CP-23': {
    demand: 'The provider writes the endpoint into an infrastructure object that has none, and nothing else.',
    proofs: [
      [
        'reconciler/phases/endpoint.test',
        'writes it to an infrastructure object that has none, before it writes it to the HostedControlPlane',
      ],
      ['cluster/shared-resources/infrastructure.test', 'writes nothing a second time, and nothing but the endpoint'],
    ],
  },
  'CP-24': {
    demand: 'Neither the endpoint nor the pods wait for provisioned infrastructure.',
    proofs: [
      ['reconciler/phases/endpoint.test', 'that of the exposure, without waiting for any infrastructure'],
      ['contract/core.test', 'is initialized although the infrastructure is never provisioned'],
    ],
  },
  'CP-25': {
    demand:
      'An endpoint that the Cluster or its infrastructure has already is used as it is, or a condition says why not.',
    proofs: [
      ['reconciler/phases/endpoint.test', "the Cluster's, which is published"],
      ['reconciler/phases/endpoint.test', 'that of the infrastructure'],
      ['reconciler/phases/endpoint.test', 'changes nothing and reports it when %s'],
    ],
  },
  'CP-26': {
    demand: 'The endpoint never changes after it was published.',
    proofs: [
      ['reconciler/phases/endpoint.test', 'keeps a published endpoint, and reports it, when %s'],
      ['constructs/api/admission-cases', 'refuses another host once the endpoint is set'],
    ],
  },
  'CP-27': {
    demand: 'The certificate of the API server names every host by which clients reach it, and they do reach it.',
    proofs: [
      ['constructs/control-plane/certificates/certificate-plans.test', 'are valid for the API server as %s'],
      ['system/demo.test', 'is Available for Cluster API'],
      [
        'full/cluster/workers/exposure-strategies.test',
        'behind an ingress controller a worker joins, its pods reach the API server, and kubectl reaches them',
      ],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
