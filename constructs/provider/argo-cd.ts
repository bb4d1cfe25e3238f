import { k8s } from 'cdk8s-plus-30';
import { conditions } from '../api/conditions.ts';
import { group } from '../api/group.ts';
import { HostedControlPlane } from '../api/resources.ts';
import { sharedReasons } from '../api/severity.ts';
import type { RenderedObject } from '../control-plane/chart.ts';

/** Reasons for which a person has to act. */
const faults: readonly string[] = [
  ...new Set(
    [sharedReasons, ...Object.values(conditions).map(({ reasons }) => reasons)].flatMap((reasons) =>
      Object.entries(reasons).flatMap(([reason, severity]) => (severity === 'Warning' ? [reason] : [])),
    ),
  ),
].sort();

/**
 * A health check for Argo CD, which has none for a HostedControlPlane: a script in Lua. A control plane is Suspended while its spec
 * or a pause asks for that, Degraded when a person has to act, and Progressing otherwise until it is ready.
 */
export const healthScript = `local health = { status = "Progressing", message = "waiting for the operator" }
local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end
local function has(type, status)
  return conditions[type] ~= nil and conditions[type].status == status
end
local faults = {
${faults.map((reason) => `  ${reason} = true,`).join('\n')}
}
local ready = conditions.Ready
if has("Paused", "True") then
  health = { status = "Suspended", message = conditions.Paused.message }
elseif ready ~= nil and ready.observedGeneration == obj.metadata.generation then
  health.message = ready.message
  if ready.status == "True" then
    health.status = "Healthy"
    health.message = obj.status.summary or ready.message
  elseif has("Awake", "False") and conditions.Awake.reason == "Hibernated" then
    health.status = "Suspended"
  elseif faults[ready.reason] or (has("Initialized", "True") and has("Available", "False")) then
    health.status = "Degraded"
  end
end
return health
`;

/** The key of the script in the configuration of Argo CD. */
const key = `resource.customizations.health.${group}_${HostedControlPlane.kind}`;

/** The part of Argo CD's configuration that an administrator merges into it. */
export function renderArgoCD(): RenderedObject[] {
  const configMap = k8s.KubeConfigMap.manifest({
    metadata: { name: 'argocd-cm', namespace: 'argocd' },
    data: { [key]: healthScript },
  }) as RenderedObject;
  return [configMap];
}
