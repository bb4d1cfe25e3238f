import { z } from 'zod';
import { rotateAnnotation, rotatedForAnnotation } from '../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import type { KubeObject } from '../kube/object.ts';

/** What can be rotated, with the field and the annotation that request it. */
export const rotations = {
  cluster: { field: 'clusterCA', annotation: rotateAnnotation('cluster-ca') },
  etcd: { field: 'etcdCA', annotation: rotateAnnotation('etcd-ca') },
  proxy: { field: 'proxyCA', annotation: rotateAnnotation('proxy-ca') },
  serviceAccount: { field: 'serviceAccountKey', annotation: rotateAnnotation('service-account-key') },
} as const;

/** A request for a rotation, by either of the two. */
export interface RotationRequest {
  readonly field?: string | undefined;
  readonly annotation?: string | undefined;
}

/** The current request. */
export function requestOf(
  { spec, metadata }: Pick<HostedControlPlane, 'spec' | 'metadata'>,
  what: keyof typeof rotations,
): RotationRequest {
  const { field, annotation } = rotations[what];
  return { field: spec.certificates.rotation?.[field], annotation: metadata.annotations?.[annotation] };
}

/** Whether a request differs from the answered one. The removal of a request is not a new request. */
export function isNew(request: RotationRequest, answered: RotationRequest): boolean {
  const differs = (a: string | undefined, b: string | undefined) => a !== undefined && a !== b;
  return differs(request.field, answered.field) || differs(request.annotation, answered.annotation);
}

const Answered = z.object({ field: z.string().optional(), annotation: z.string().optional() });

/** The request that a Secret has answered; empty if the annotation is missing or not readable. */
export function answeredBy(secret: KubeObject): RotationRequest {
  try {
    return Answered.parse(JSON.parse(secret.metadata.annotations?.[rotatedForAnnotation] ?? '{}'));
  } catch {
    return {};
  }
}

/** The annotation of a Secret that has answered this request; none without a request. */
export function answering(request: RotationRequest): Record<string, string> {
  const text = JSON.stringify(request);
  return text === '{}' ? {} : { [rotatedForAnnotation]: text };
}
