/** Field manager of the fields that hcp sets, which `kubectl get -o yaml --show-managed-fields` shows. */
export const fieldManager = 'hcp';
