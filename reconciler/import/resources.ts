import type { Resource } from '../../constructs/api/resources.ts';

const namespaced = (apiVersion: string, kind: string, plural: string): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});

/** Kinds that only `hcp import` reads or deletes, with the rights of its user; the operator has none for them. */
export const Certificate = namespaced('cert-manager.io/v1', 'Certificate', 'certificates');
export const Issuer = namespaced('cert-manager.io/v1', 'Issuer', 'issuers');
export const TenantControlPlane = namespaced('kamaji.clastix.io/v1alpha1', 'TenantControlPlane', 'tenantcontrolplanes');
export const ValidatingWebhookConfiguration: Resource = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
};
