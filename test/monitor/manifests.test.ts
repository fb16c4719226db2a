/** The files that run perpd beside Prometheus, Grafana and Alertmanager, or in Kubernetes: ports, paths, settings and names exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { schema } from '../../src/config/configSchema.ts'
import { deployFolder } from './promql.ts'

const root = join(deployFolder, '..')
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')
const yamlOf = (path: string) => parse(textOf(path))
const { name, version } = JSON.parse(textOf('package.json'))
const dockerfile = textOf('Dockerfile')
const port = schema.control.port.default
const probed = textOf('src/control/routes.ts')

test('the monitoring compose file runs the image of the Dockerfile on paper and mounts files that are there', () => {
  const { services } = yamlOf('deploy/monitoring.compose.yaml')
  expect(Object.keys(services)).toEqual(['perpd', 'prometheus', 'alertmanager', 'grafana'])
  expect(services.perpd).toMatchObject({
    build: '..',
    image: `${name}:${version}`,
    read_only: true,
    cap_drop: ['ALL'],
    environment: {
      PERPD__CONTROL__HOST: '0.0.0.0',
      PERPD__CONTROL__HOST_NAMES: 'perpd',
      PERPD__CONTROL__METRICS_ACCESS: 'open',
    },
  })
  for (const [, service] of Object.entries<{ volumes?: string[]; ports?: string[] }>(services)) {
    for (const [from = ''] of (service.volumes ?? []).map((each) => each.split(':')))
      if (from.startsWith('.')) expect(existsSync(join(deployFolder, from)), from).toBe(true)
    // Nothing is reached from beyond this machine.
    for (const each of service.ports ?? []) expect(each).toMatch(/^127\.0\.0\.1:/)
  }
  expect(services.perpd.ports).toBeUndefined()
  // As docs/operating.md says: the state alone, and your own folders by the lines of the other file.
  expect(services.perpd.volumes).toEqual(['state:/app/var'])
  expect(yamlOf('deploy/compose.yaml').services.perpd.volumes).toEqual([
    'state:/app/var',
    './settings:/etc/perpd:ro',
    './strategies:/app/strategies:ro',
  ])
  const configOf = (service: string): string =>
    /--config\.file=\/etc\/(\S+)/.exec(services[service].command.join(' '))?.[1] ?? ''
  for (const service of ['prometheus', 'alertmanager'])
    expect(existsSync(join(deployFolder, configOf(service))), service).toBe(true)
})

test('Prometheus scrapes the port that perpd serves, loads the rules that are there and tells the Alertmanager beside it', () => {
  const config = yamlOf('deploy/prometheus/prometheus.yaml')
  expect(config.scrape_configs).toMatchObject([
    { job_name: 'perpd', metrics_path: '/metrics', static_configs: [{ targets: [`perpd:${port}`] }] },
  ])
  for (const file of config.rule_files) expect(existsSync(join(deployFolder, 'prometheus', file))).toBe(true)
  const receivers = yamlOf('deploy/alertmanager/alertmanager.yaml')
  const named = receivers.receivers.map((each: { name: string }) => each.name)
  for (const { receiver } of [receivers.route, ...receivers.route.routes]) expect(named).toContain(receiver)
})

test('dashboards have names of their own, panels that do not lie on each other, and a data source that is chosen, at first the provisioned one', () => {
  const [source] = yamlOf('deploy/grafana/provisioning/datasources/prometheus.yaml').datasources
  const [provider] = yamlOf('deploy/grafana/provisioning/dashboards/perpd.yaml').providers
  expect(textOf('deploy/monitoring.compose.yaml')).toContain(`:${provider.options.path}:ro`)
  const folder = join(deployFolder, 'grafana', 'dashboards')
  const boards = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
  expect(boards.map(({ uid }) => uid).sort()).toEqual(
    ['hosts', 'orders', 'overview', 'risk', 'strategies'].map((each) => `perpd-${each}`),
  )
  for (const { uid, panels, templating } of boards) {
    const [choice] = templating.list
    expect(choice).toMatchObject({ name: 'datasource', type: 'datasource', current: { value: source.uid } })
    const chosen = `\${${choice.name}}`
    const taken = new Set<string>()
    for (const { id, datasource, gridPos, targets } of panels) {
      expect(datasource.uid).toBe(chosen)
      for (const target of targets) expect(target.datasource.uid).toBe(chosen)
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x}:${y}`), `${uid} panel ${id}`).toBe(false)
          taken.add(`${x}:${y}`)
        }
      }
    }
  }
})

test('the Kubernetes manifests run one pod of the image as its user, with probes, state and secret where perpd looks for them', () => {
  const documents = parseAllDocuments(textOf('deploy/kubernetes/perpd.yaml'))
  for (const each of documents) expect(each.errors).toEqual([])
  const byKind = Object.fromEntries(documents.map((each) => each.toJS()).map((each) => [each.kind, each]))
  expect(Object.keys(byKind)).toEqual(['ConfigMap', 'Service', 'StatefulSet', 'NetworkPolicy', 'PodMonitor'])
  const settings = JSON.parse(byKind.ConfigMap.data['perpd.json'])
  expect(settings).toEqual({ control: { host: '0.0.0.0', metricsAccess: 'open' } })
  for (const key of Object.keys(settings.control)) expect(Object.keys(schema.control)).toContain(key)
  const { spec } = byKind.StatefulSet
  expect(spec.replicas).toBe(1)
  const pod = spec.template.spec
  const [container] = pod.containers
  for (const each of [...pod.initContainers, container]) expect(each.image).toBe(`${name}:${version}`)
  expect(container.ports).toEqual([{ name: 'control', containerPort: port }])
  expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'control' })
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'control' })
  for (const { httpGet } of [container.livenessProbe, container.readinessProbe])
    expect(probed).toContain(`app.get('${httpGet.path}'`)
  expect(container.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 1000,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  })
  expect(pod.automountServiceAccountToken).toBe(false)
  const mounts = Object.fromEntries(
    container.volumeMounts.map((each: { mountPath: string; name: string }) => [each.mountPath, each.name]),
  )
  // The image's own command reads these settings, and its volume is the state.
  expect(dockerfile).toContain('"--config", "/etc/perpd/perpd.json"')
  expect(dockerfile).toContain('VOLUME ["/app/var"]')
  expect(mounts).toMatchObject({
    '/app/var': 'state',
    '/etc/perpd/perpd.json': 'settings',
    '/app/strategies': 'strategies',
  })
  const { value: credentials } = container.env.find(
    (each: { name: string }) => each.name === 'CREDENTIALS_DIRECTORY',
  )
  expect(mounts[credentials]).toBe('credentials')
  const volumes = [
    ...pod.volumes,
    ...spec.volumeClaimTemplates.map((each: { metadata: unknown }) => each.metadata),
  ]
  const names = volumes.map((each: { name: string }) => each.name)
  for (const each of [...pod.initContainers, container])
    for (const mount of each.volumeMounts) expect(names).toContain(mount.name)
  const labels = spec.template.metadata.labels
  for (const selector of [
    spec.selector,
    byKind.NetworkPolicy.spec.podSelector,
    byKind.PodMonitor.spec.selector,
  ])
    expect(selector.matchLabels).toEqual(labels)
  expect(byKind.NetworkPolicy.spec.ingress[0].ports).toEqual([{ protocol: 'TCP', port }])
  expect(byKind.PodMonitor.spec.podMetricsEndpoints).toMatchObject([{ port: 'control', path: '/metrics' }])
  // Alerts name the job `perpd`.
  expect(labels[byKind.PodMonitor.spec.jobLabel]).toBe('perpd')
})

test('the manifests of three pods are those of one pod, with a database, the way to wait, and room for updates and evictions', () => {
  const manifests = (path: string) => {
    const documents = parseAllDocuments(textOf(path))
    for (const each of documents) expect(each.errors).toEqual([])
    return Object.fromEntries(documents.map((each) => each.toJS()).map((each) => [each.kind, each]))
  }
  const [one, three] = [manifests('deploy/kubernetes/perpd.yaml'), manifests('deploy/kubernetes/three.yaml')]
  expect(Object.keys(three)).toEqual([
    ...['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'NetworkPolicy', 'PodMonitor'],
  ])
  const settings = JSON.parse(three.ConfigMap.data['perpd.json'])
  for (const section of ['account', 'journal', 'control'] as const)
    for (const key of Object.keys(settings[section])) expect(Object.keys(schema[section])).toContain(key)
  expect(settings.journal).toMatchObject({ standby: true, synchronousStandby: true })
  const { spec } = three.Deployment
  expect([spec.replicas, three.PodDisruptionBudget.spec.minAvailable]).toEqual([3, 2])
  // Never two that are gone at once, and none beside the three.
  expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: 0, maxUnavailable: 1 })
  const [own, model] = [spec.template.spec, one.StatefulSet.spec.template.spec]
  const [container, single] = [own.containers[0], model.containers[0]]
  const { env, readinessProbe, ...rest } = container
  const { env: modelEnv, readinessProbe: _, ...modelRest } = single
  expect(rest).toEqual(modelRest)
  expect(env.slice(0, -1)).toEqual(modelEnv)
  expect(env.at(-1)).toMatchObject({
    name: 'PERPD__JOURNAL__URL',
    valueFrom: { secretKeyRef: { key: 'journal-url' } },
  })
  // One that waits is not ready by /readyz, and would hold up every update: it is alive.
  expect(readinessProbe.httpGet).toEqual({ path: '/livez', port: 'control' })
  const { command, ...layout } = own.initContainers[0]
  const { command: modelCommand, ...modelLayout } = model.initContainers[0]
  expect(layout).toEqual(modelLayout)
  expect(command[2].split(';').slice(-3)).toEqual(modelCommand[2].split(';').slice(-3))
  // The key lies where the settings look for it.
  expect(command[2]).toContain('key.json')
  const mount = container.volumeMounts.find((each: { name: string }) => each.name === 'credentials')
  expect(settings.account.keystore).toBe(`${mount.mountPath}/key.json`)
  const names = own.volumes.map((each: { name: string }) => each.name)
  for (const each of [...own.initContainers, container])
    for (const { name: used } of each.volumeMounts) expect(names).toContain(used)
  const { labels } = spec.template.metadata
  for (const selector of [
    ...[spec.selector, three.PodDisruptionBudget.spec.selector],
    ...[three.NetworkPolicy.spec.podSelector, three.PodMonitor.spec.selector],
    own.topologySpreadConstraints[0].labelSelector,
  ])
    expect(labels).toMatchObject(selector.matchLabels)
  expect(labels[three.PodMonitor.spec.jobLabel]).toBe('perpd')
})
