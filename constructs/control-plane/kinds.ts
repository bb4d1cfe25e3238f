import {
  CiliumNetworkPolicy,
  ConfigMap,
  Deployment,
  Ingress,
  IngressRouteTCP,
  NetworkPolicy,
  PodDisruptionBudget,
  type Resource,
  Service,
  StatefulSet,
  TLSRoute,
} from '../api/resources.ts';

/** Kinds of the network policies of the chart, which a part of its own renders. */
export const policyKinds: readonly Resource[] = [NetworkPolicy, CiliumNetworkPolicy];

/** Kinds of all objects of the chart. Secrets are none of them: a render never deletes keys. */
export const renderedKinds: readonly Resource[] = [
  Service,
  ConfigMap,
  Deployment,
  StatefulSet,
  PodDisruptionBudget,
  TLSRoute,
  Ingress,
  IngressRouteTCP,
  ...policyKinds,
];
