import {
  Deployment,
  Ingress,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Service,
} from '../../../constructs/api/resources.ts';
import type { DeploymentObject, PodObject } from '../../kube/readiness.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ServiceObject } from '../../clusters/management/service-object.ts';
import { type PersistentVolumeClaimObject, isAwaited, findPodProblem } from '../../clusters/pods/pod-problem.ts';
import { wrapped } from '../wrapped.ts';
import { type Cause, warningsAbout } from './warnings.ts';
import type { EventObject } from '../../clusters/pods/warnings.ts';
import { gatewayCauses, type GatewayEvidence } from './gateway-causes.ts';

export interface QuotaObject extends KubeObject {
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
}

/** What is in the namespace of a control plane, and its Gateway, as its user may read them. */
export interface Evidence {
  readonly deployments: readonly DeploymentObject[];
  readonly pods: readonly PodObject[];
  readonly claims: readonly PersistentVolumeClaimObject[];
  readonly services: readonly ServiceObject[];
  readonly ingresses: readonly KubeObject[];
  /** Of a control plane behind a Gateway. */
  readonly gateway?: GatewayEvidence | undefined;
  readonly events: readonly EventObject[];
  readonly quotas: readonly QuotaObject[];
}

/** The pods, volumes, addresses, Gateway and quotas that do not work, each with its newest warnings. */
export function causesOf(evidence: Evidence, now: number): Cause[] {
  const { gateway, events, quotas } = evidence;
  return [
    ...objectCauses(evidence, now),
    ...(gateway ? gatewayCauses(gateway, events, now) : []),
    ...quotaCauses(quotas),
  ];
}

/** Objects that do not work, each with its newest warnings. */
function objectCauses(evidence: Evidence, now: number): Cause[] {
  const { deployments, pods, claims, services, ingresses, events } = evidence;
  const at = new Date(now);
  const cause = (kind: string, object: KubeObject, podProblem: string | undefined): Cause[] => {
    const { name } = object.metadata;
    const causes = warningsAbout({ kind, name }, events, now);
    if (podProblem === undefined && causes.length === 0) return [];
    return [{ text: `${kind} ${name}${podProblem === undefined ? '' : `: ${withoutName(podProblem, name)}`}`, causes }];
  };
  return [
    ...deployments.flatMap((one) =>
      cause(Deployment.kind, one, findPodProblem({ pods: [], deployments: [one], now: at })?.message),
    ),
    ...pods
      .filter(isAwaited)
      .flatMap((pod) => cause(Pod.kind, pod, findPodProblem({ pods: [pod], now: at })?.message ?? 'is not ready')),
    ...claims.flatMap((claim) => {
      const pending = claim.status?.phase === 'Pending' ? 'has no volume yet' : undefined;
      return cause(
        PersistentVolumeClaim.kind,
        claim,
        findPodProblem({ pods: [], claims: [claim], now: at })?.message ?? pending,
      );
    }),
    ...services
      .filter(({ spec }) => spec?.type === 'LoadBalancer')
      .flatMap((service) => {
        const hasAddress = (service.status?.loadBalancer?.ingress ?? []).length > 0;
        return cause(Service.kind, service, hasAddress ? undefined : 'has no address yet');
      }),
    // Their controllers do not report whether they accept them: only warnings say that they do not.
    ...ingresses.flatMap((ingress) => cause(Ingress.kind, ingress, undefined)),
  ];
}

/** A message whose sentences begin with the kind and the name of the object, without both. */
function withoutName(message: string, name: string): string {
  const marker = ` ${name}: `;
  const end = message.indexOf(marker);
  return end < 0 ? message : message.replaceAll(message.slice(0, end + marker.length), '');
}

/** Quotas that admit nothing more of a resource. */
function quotaCauses(quotas: readonly QuotaObject[]): Cause[] {
  return quotas.flatMap(({ metadata, status }) => {
    const { hard = {}, used = {} } = status ?? {};
    const full = Object.entries(hard).filter(([resource, limit]) => used[resource] === limit);
    if (full.length === 0) return [];
    const text = full.map(([resource, limit]) => `${resource} ${limit}`).join(', ');
    return [{ text: `${ResourceQuota.kind} ${metadata.name} is used up: ${text}`, causes: [] }];
  });
}

/** Causes as lines of a tree. @param indent the lines of the causes above, which go on beside a text of several lines */
export function tree(causes: readonly Cause[], width: number | undefined, indent = ''): string[] {
  return causes.flatMap(({ text, causes: behind }, index) => {
    const isLast = index === causes.length - 1;
    const below = `${indent}${isLast ? ' ' : '│'} `;
    return [
      ...wrapped(text, width, { first: `${indent}${isLast ? '└' : '├'} `, further: below }),
      ...tree(behind, width, below),
    ];
  });
}
