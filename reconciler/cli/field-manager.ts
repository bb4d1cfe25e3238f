/** Owner of the fields that this command line sets: `kubectl get -o yaml --show-managed-fields` then says who it was. */
export const fieldManager = 'hcp';
