import { type Dashboard, type Panel, type VariableModel, VariableRefresh } from '@grafana/schema';
import { controlPlanePanels, fleetPanels, type PanelSpec } from './panels.ts';

/** A dashboard of Grafana, as a file to import or to provision. */
export interface DashboardFile {
  readonly path: string;
  readonly dashboard: Dashboard;
}

/** The Prometheus that a person chooses in Grafana. */
const datasource = { type: 'prometheus', uid: '${datasource}' };
const datasourceVariable: VariableModel = {
  type: 'datasource',
  name: 'datasource',
  label: 'Prometheus',
  query: 'prometheus',
};
const variable = (name: string, query: string): VariableModel => ({
  type: 'query',
  name,
  datasource,
  query,
  refresh: VariableRefresh.onTimeRangeChanged,
});
const values = (label: string, selector = ''): string =>
  `label_values(hosted_control_plane_condition${selector}, ${label})`;

/** The dashboards of the provider. */
export function renderDashboards(): DashboardFile[] {
  return [
    { path: 'fleet.json', dashboard: dashboard('hosted-control-planes', 'Hosted control planes', fleetPanels, []) },
    {
      path: 'control-plane.json',
      dashboard: dashboard('hosted-control-plane', 'Hosted control plane', controlPlanePanels, [
        variable('namespace', values('namespace')),
        variable('name', values('name', '{namespace="$namespace"}')),
      ]),
    },
  ];
}

function dashboard(
  uid: string,
  title: string,
  panels: readonly PanelSpec[],
  variables: readonly VariableModel[],
): Dashboard {
  return {
    uid,
    title,
    tags: ['cluster-api', 'hosted-control-plane'],
    schemaVersion: 41,
    editable: true,
    time: { from: 'now-6h', to: 'now' },
    refresh: '1m',
    templating: { list: [datasourceVariable, ...variables] },
    panels: placed(panels),
  };
}

const columns = 24;
const sizes = { stat: { w: 4, h: 4 }, timeseries: { w: 12, h: 8 }, 'state-timeline': { w: 24, h: 14 } } as const;

/** Panels in rows, from left to right. */
function placed(specs: readonly PanelSpec[]): Panel[] {
  let [x, y, height] = [0, 0, 0];
  return specs.map((spec, index) => {
    const { w, h } = sizes[spec.type];
    if (x + w > columns) [x, y, height] = [0, y + height, 0];
    const gridPos = { x, y, w, h };
    [x, height] = [x + w, Math.max(height, h)];
    return { ...panel(spec), id: index + 1, gridPos };
  });
}

function panel({ title, description, type, unit = 'short', queries }: PanelSpec): Panel {
  return {
    type,
    title,
    description,
    datasource,
    targets: queries.map(({ expression, legend }, index) => ({
      refId: String.fromCodePoint('A'.codePointAt(0)! + index),
      datasource,
      expr: expression,
      legendFormat: legend,
    })),
    fieldConfig: { defaults: { unit, ...(type === 'stat' ? {} : { min: 0 }) }, overrides: [] },
    options: {},
  };
}
