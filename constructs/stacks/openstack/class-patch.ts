/** The API versions of Cluster API Provider OpenStack (CAPO) in which the stack can be written. */
export const capoVersions = ['v1beta1', 'v1beta2'] as const;
export type CapoVersion = (typeof capoVersions)[number];

/** The template of the ClusterClass that a patch changes. */
export type PatchTarget = 'controlPlane' | 'infrastructureCluster' | 'worker';

/** Where the value of a patch comes from: it is fixed, or a variable, or a Go template over the variables. */
export type PatchValue = { readonly value: unknown } | { readonly variable: string } | { readonly template: string };

/** One JSON patch below `/spec/template/spec` of its target. */
export type PatchOperation = PatchValue & { readonly op: 'add' | 'replace'; readonly path: string };

/** One patch of the ClusterClass. Patches that come later apply to the result of the earlier ones. */
export interface ClassPatch {
  readonly name: string;
  readonly target: PatchTarget;
  /** Go template over the variables; the patch applies where it renders `true`. @default always */
  readonly enabledIf?: string;
  /** The operations in the spelling of each version of CAPO. */
  readonly operations: Readonly<Record<CapoVersion, readonly PatchOperation[]>>;
}

/** Operations that both versions of CAPO spell alike. */
export function inBoth(...operations: readonly PatchOperation[]): ClassPatch['operations'] {
  return { v1beta1: operations, v1beta2: operations };
}

/** A template that is `true` if the variable is set, and neither empty, nor zero, nor false. */
export function whenSet(variable: string): string {
  return `{{ if .${variable} }}true{{ end }}`;
}

/** A template that is `true` if the variable has this value. */
export function whenEqual(variable: string, value: string): string {
  return `{{ eq .${variable} ${JSON.stringify(value)} }}`;
}
