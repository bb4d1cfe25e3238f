import type { ComponentTemplateSpec } from '../api/component-template.ts';
import type { HostedControlPlane, HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import { parseComponentTemplate, type ParsedHostedControlPlane, parseStoredHostedControlPlane } from '../api/parse.ts';
import type { ApiServerPod, Container } from '../api/pod-spec.ts';
import { HostedControlPlaneComponentTemplate } from '../api/resources.ts';
import { definedOnly } from '../cluster/defined-only.ts';
import { type Additions, combined, unlessEmpty } from './additions.ts';

type Invalid = Extract<ParsedHostedControlPlane, { valid: false }>;

/**
 * A HostedControlPlane on top of the template that it refers to, if it does. It is invalid when that is missing or invalid, or when
 * the two cannot be combined.
 * @param find returns the template of that name in its namespace
 * @param accepted the spec that was accepted last, with that of its template
 */
export function withComponentTemplate(
  hostedControlPlane: HostedControlPlane,
  find: (name: string) => unknown,
  accepted?: unknown,
): ParsedHostedControlPlane {
  const { metadata, spec } = hostedControlPlane;
  if (spec.componentTemplateRef === undefined) return { valid: true, hostedControlPlane };
  const { name } = spec.componentTemplateRef;
  const which = `${HostedControlPlaneComponentTemplate.kind} ${name}`;
  const invalid = (message: string): Invalid => {
    const path = 'spec.componentTemplateRef';
    return { valid: false, metadata, problems: [{ path, message }], message: `${path}: ${message}` };
  };
  const found = find(name);
  if (found === undefined) return invalid(`${which} does not exist: create it, or name another one`);
  const parsed = parseComponentTemplate(found, accepted !== undefined);
  if (!parsed.valid) return invalid(`${which} cannot be used: ${parsed.message}`);
  const both = parseStoredHostedControlPlane(
    { ...hostedControlPlane, spec: onTemplate(spec, parsed.template.spec) },
    accepted,
  );
  return both.valid ? both : invalid(`together with ${which}: ${both.message}`);
}

/**
 * A spec on top of the settings of a template: entries of maps and lists add up, and among those with the same key that of the
 * spec wins.
 */
function onTemplate(
  spec: HostedControlPlaneSpec,
  { deployment: shared = {}, etcd }: ComponentTemplateSpec,
): HostedControlPlaneSpec {
  const { deployment } = spec;
  const defaults = combined([shared.defaults, deployment.defaults]);
  return {
    ...spec,
    deployment: {
      ...deployment,
      ...unlessEmpty({ defaults }),
      apiServer: apiServerOn(shared.apiServer, deployment.apiServer),
      controllerManager: podOn(shared.controllerManager, deployment.controllerManager),
      scheduler: podOn(shared.scheduler, deployment.scheduler),
    },
    etcd: podOn(etcd, spec.etcd),
  };
}

type Pod = Container & Additions;

function apiServerOn(shared: ApiServerPod | undefined, own: ApiServerPod): ApiServerPod {
  if (shared === undefined) return own;
  const { mounts, konnectivity, audit } = shared;
  return {
    ...definedOnly({ audit }),
    ...podOn(shared, own),
    ...unlessEmpty({ mounts: { ...mounts, ...own.mounts } }),
    ...unlessEmpty({ konnectivity: containerOn(konnectivity, own.konnectivity ?? {}) }),
  };
}

function podOn<T extends Pod>(shared: Pod | undefined, own: T): T {
  return shared === undefined ? own : { ...containerOn(shared, own), ...combined([shared, own]) };
}

function containerOn<T extends Container>(shared: Container | undefined, own: T): T {
  if (shared === undefined) return own;
  const { imagePullPolicy, resources } = shared;
  const limits = { ...resources?.limits, ...own.resources?.limits };
  const requests = { ...resources?.requests, ...own.resources?.requests };
  return {
    ...definedOnly({ imagePullPolicy }),
    ...(definedOnly(own) as T),
    ...unlessEmpty({
      image: { ...definedOnly(shared.image ?? {}), ...definedOnly(own.image ?? {}) },
      args: { ...shared.args, ...own.args },
      resources: { ...definedOnly(own.resources ?? {}), ...unlessEmpty({ limits, requests }) },
    }),
  };
}
