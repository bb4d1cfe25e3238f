import { expect, it } from 'vitest';
import { requestedAPIs } from '../../../../../reconciler/desired-state/upgrade/preflight/observe-preflight.ts';

const metrics = `# HELP apiserver_requested_deprecated_apis Gauge of deprecated APIs that have been requested
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="status",version="v1beta3"} 1
apiserver_requested_deprecated_apis_other{removed_release="1.32"} 1
`;

it('reads the deprecated APIs that are removed in a minor from the metrics of an API server', () => {
  expect(requestedAPIs(metrics)).toEqual([
    { group: 'flowcontrol.apiserver.k8s.io', version: 'v1beta3', resource: 'flowschemas', removedRelease: '1.32' },
  ]);
});
