import { z } from 'zod';
import { namespaceName } from './object-name.ts';
import { labelSet } from './pod-metadata-spec.ts';
import { withRules } from './validation-rule.ts';

const Scraper = z
  .object({
    namespace: namespaceName().min(1).describe('Namespace of the pods in the management cluster.'),
    podLabels: withRules(labelSet(), [
      {
        rule: 'size(self) > 0',
        message: 'name at least one label, because without any all pods of the namespace could connect',
        holds: (labels) => Object.keys(labels).length > 0,
      },
    ]).describe('Labels of the pods. A pod has all of them.'),
  })
  .describe('One kind of pods.');

/** Pods that read the metrics of a control plane. */
export const MetricsScrapers = z
  .array(Scraper)
  .max(8)
  .meta({ 'x-kubernetes-list-type': 'atomic' })
  .describe(
    'Pods in the management cluster, such as the pods of Prometheus, that may connect to the metrics of etcd, the controller manager and the scheduler, and of the audit fan-out if there is one. The network policies admit no other pods to these ports. The controller manager and the scheduler also ask for a token of the hosted cluster whose user may get /metrics.',
  );
