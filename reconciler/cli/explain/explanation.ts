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
import { spanText } from '../format.ts';
import {
  blockerOf,
  conditionOf,
  nothingReported,
  stateOf,
  stepsOf,
  type StoredControlPlane,
} from '../control-plane-state.ts';
import { plainView, type View } from '../view.ts';
import { hanging, wrapped } from '../wrapped.ts';
import { type Cause, warningsAbout } from './cause.ts';
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
  readonly object: StoredControlPlane;
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

/** Why a control plane is not Ready, from the step that blocks to the pods, volumes, quotas, Gateway and events behind it. */
export function explanation(evidence: Evidence, cluster: string, now: number, view: View = plainView): string[] {
  const { object, gateway, events } = evidence;
  const { paint, width } = view;
  const blocker = blockerOf(object);
  const behind = [
    ...objectCauses(evidence, now),
    ...(gateway ? gatewayCauses(gateway, events, now) : []),
    ...quotaCauses(evidence.quotas),
  ];
  if (!blocker) {
    const isReported = conditionOf(object, 'Ready') !== undefined;
    const state = isReported ? `${cluster} is ${paint('ok', 'Ready')}` : paint('unknown', nothingReported);
    return [state, ...tree(behind, width)];
  }
  const steps = stepsOf(object).filter(({ type }) => type !== blocker.type);
  const failing = steps.filter((step) => stateOf(step) === 'fails');
  const waiting = steps.filter((step) => stateOf(step) === 'waits').map(({ type }) => type);
  const since = spanText(now - Date.parse(blocker.lastTransitionTime));
  const notReady = paint(stateOf(blocker), 'not Ready');
  const says = (text: string) => wrapped(text, width, hanging);
  return [
    ...says(`${cluster} is ${notReady} for ${since}, because ${blocker.type} is ${blocker.reason}`),
    ...(blocker.message === '' ? [] : wrapped(blocker.message, width, { first: '  ' })),
    ...tree(behind, width),
    ...failing.flatMap(({ type, message }) => says(`also ${paint('fails', type)}: ${message}`)),
    ...(waiting.length === 0 ? [] : says(`wait for it: ${waiting.join(', ')}`)),
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

/** @param indent the lines of the causes above, which go on beside a text of several lines */
function tree(causes: readonly Cause[], width: number | undefined, indent = ''): string[] {
  return causes.flatMap(({ text, causes: behind }, index) => {
    const isLast = index === causes.length - 1;
    const below = `${indent}${isLast ? ' ' : '│'} `;
    return [
      ...wrapped(text, width, { first: `${indent}${isLast ? '└' : '├'} `, further: below }),
      ...tree(behind, width, below),
    ];
  });
}
