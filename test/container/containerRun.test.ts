/**
 * The image is built and run as its files say, with the kernel's own means in the place of an engine: the Dockerfile's steps in a clean root,
 * then its command behind the mounts of deploy/compose.yaml and those of deploy/kubernetes, with nothing else to write and no network. What is
 * not tried: the base image itself, and an engine's own reading of these files.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { until } from '../world/processes.ts'
import { buildImage, type Image } from './buildImage.ts'
import { whyNot } from './cleanRoot.ts'
import { type Contained, type Mount, startContainer } from './startContainer.ts'

const root = resolve(import.meta.dirname, '..', '..')
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')
const reason = whyNot()
if (reason !== undefined)
  process.stderr.write(`SKIPPED: the container image is not built and run here, because ${reason}\n`)

const folder = mkdtempSync(join(tmpdir(), 'perpd-image-'))
const running: Contained[] = []
let image: Image

beforeAll(() => {
  if (reason === undefined) image = buildImage(root, join(folder, 'build'))
}, 600_000)

afterAll(async () => {
  for (const each of running) {
    try {
      each.signal('SIGKILL')
    } catch {
      // It has ended.
    }
    await each.ended
  }
  rmSync(folder, { recursive: true, force: true })
}, 300_000)

/** Strategies of the user's: a kind of his own that opens one position. */
function writeStrategies(to: string): void {
  mkdirSync(to, { recursive: true })
  copyFileSync(join(root, 'test/world/strategies/once.ts'), join(to, 'once.ts'))
  writeFileSync(
    join(to, 'once.yaml'),
    'kind: ./once.ts\nmarket: ETH/USD [WETH-USDC]\ncadenceSeconds: 1\nsize: { usd: 500, leverage: 2, collateral: short }\n',
  )
}

function start(mounts: readonly Mount[], options: Parameters<typeof startContainer>[2] = {}): Contained {
  const container = startContainer(image, mounts, options)
  running.push(container)
  return container
}

async function healthy(container: Contained): Promise<void> {
  await until('it is healthy', () => (container.exec(image.healthcheck) === 0 ? true : undefined), {
    timeoutMs: 120_000,
    seen: container.said,
  })
}

async function filled(container: Contained): Promise<void> {
  await until('a first fill', () => container.said().includes('"state_to":"executed"') || undefined, {
    timeoutMs: 120_000,
    seen: container.said,
  })
}

const accountOf = (said: string) => /"account":"([^"]+)"/.exec(said)?.[1]

/** A volume that an engine makes: with owner and mode of the folder in the image. */
function volume(name: string, path: string): string {
  const made = join(folder, name)
  const { mode, uid, gid } = statSync(join(image.root, path))
  mkdirSync(made)
  chmodSync(made, mode & 0o777)
  chownSync(made, uid, gid)
  return made
}

test.runIf(reason === undefined)('the image holds what runs and nothing else', () => {
  expect(readdirSync(join(image.root, 'app')).sort()).toEqual([
    'LICENSE',
    'README.md',
    'cache',
    'config',
    'dist',
    'node_modules',
    'package.json',
    'sbom.cdx.json',
    'strategies',
    'var',
  ])
  for (const gone of [
    'usr/local/bin/npm',
    'usr/local/lib/node_modules',
    'app/node_modules/typescript',
    'app/node_modules/vitest',
    'app/node_modules/rolldown',
    'root/.npm/_cacache',
  ])
    expect(existsSync(join(image.root, gone)), gone).toBe(false)
  const listed: readonly string[] = JSON.parse(textOf('deploy/sbom.cdx.json')).components.map(
    ({ name }: { name: string }) => name,
  )
  // Of a package with a part for each platform the image has the part of its own.
  const { packages } = JSON.parse(textOf('package-lock.json'))
  const isForHere = (name: string) => {
    const { os = ['linux'], cpu = [process.arch], libc = ['glibc'] } = packages[`node_modules/${name}`] ?? {}
    return os.includes('linux') && cpu.includes(process.arch) && libc.includes('glibc')
  }
  expect(listed.filter(isForHere).length).toBeGreaterThan(40)
  for (const name of listed.filter(isForHere))
    expect(existsSync(join(image.root, 'app/node_modules', name)), name).toBe(true)
})

test.runIf(reason === undefined)(
  'behind the mounts of the compose file it is healthy, fills an order, ends with 0, and goes on from its volume at the next start',
  { timeout: 480_000 },
  async () => {
    const { perpd } = parse(textOf('deploy/compose.yaml')).services
    expect(perpd.command).toEqual(image.command)
    const places: Record<string, string> = {
      state: volume('state', '/app/var'),
      './settings': join(folder, 'settings'),
      './strategies': join(folder, 'strategies'),
    }
    mkdirSync(places['./settings'] ?? '')
    writeFileSync(join(places['./settings'] ?? '', 'perpd.json'), '{}\n')
    writeStrategies(places['./strategies'] ?? '')
    const mounts = perpd.volumes.map((each: string): Mount => {
      const [from = '', to = '', mode] = each.split(':')
      return { from: places[from] ?? from, to, isReadOnly: mode === 'ro' }
    })
    expect(mounts.map(({ to }: Mount) => to)).toEqual(expect.arrayContaining([...image.volumes]))
    const options = { env: perpd.environment as Record<string, string> }
    const first = start(mounts, options)
    await healthy(first)
    await filled(first)
    // Nothing can be written but the state: not the program, not the mounts.
    for (const path of [
      '/app/dist/x',
      '/app/cache/perpd/compiled/x',
      '/app/strategies/x',
      '/etc/perpd/x',
      '/usr/local/bin/x',
    ])
      expect(first.exec(['/usr/bin/touch', path]), path).not.toBe(0)
    expect(first.exec(['/usr/bin/touch', '/app/var/probe'])).toBe(0)
    first.signal('SIGTERM')
    expect(await first.ended, first.said()).toBe(0)
    expect(first.said()).toContain('"event":"daemon.stopped"')
    const second = start(mounts, options)
    await healthy(second)
    await until(
      'it shows the position',
      () => second.said().includes('"size_in_dollars":"500"') || undefined,
      {
        timeoutMs: 120_000,
        seen: second.said,
      },
    )
    expect(accountOf(second.said())).toBe(accountOf(first.said()))
    expect(second.said()).not.toContain('"state_to":"executed"')
    second.signal('SIGTERM')
    expect(await second.ended, second.said()).toBe(0)
  },
)

test.runIf(reason === undefined)(
  'behind the mounts of the Kubernetes manifest, which its first container lays out, it runs the strategies of a config map',
  { timeout: 480_000 },
  async () => {
    const documents = parseAllDocuments(textOf('deploy/kubernetes/perpd.yaml')).map((each) => each.toJS())
    const settings = documents.find(({ kind }) => kind === 'ConfigMap').data['perpd.json']
    const pod = documents.find(({ kind }) => kind === 'StatefulSet').spec.template.spec
    const volumes = join(folder, 'pod')
    for (const name of ['state', 'settings', 'secret', 'credentials', 'given', 'strategies', 'tmp']) {
      mkdirSync(join(volumes, name), { recursive: true })
      chmodSync(join(volumes, name), 0o777)
    }
    writeFileSync(join(volumes, 'settings', 'perpd.json'), settings)
    // A config map is mounted as links to the files of its version.
    writeStrategies(join(volumes, 'given', '..1'))
    symlinkSync('..1', join(volumes, 'given', '..data'))
    for (const name of ['once.ts', 'once.yaml']) symlinkSync(`..data/${name}`, join(volumes, 'given', name))
    const mountsOf = (container: {
      volumeMounts: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[]
    }) =>
      container.volumeMounts
        .filter(({ mountPath }) => mountPath !== '/tmp')
        .map(
          ({ name, mountPath, subPath = '', readOnly = false }): Mount => ({
            from: join(volumes, name, subPath),
            to: mountPath,
            isReadOnly: readOnly,
          }),
        )
    const [layout] = pod.initContainers
    const laid = start(mountsOf(layout), {
      command: layout.command,
      user: `${layout.securityContext.runAsUser}:0`,
      capabilities: layout.securityContext.capabilities.add.map((each: string) => each.toLowerCase()),
    })
    expect(await laid.ended, laid.said()).toBe(0)
    const [main] = pod.containers
    const { runAsUser, runAsGroup } = main.securityContext
    expect(`${runAsUser}:${runAsGroup}`).toBe(image.user)
    const env = Object.fromEntries(
      main.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    )
    const container = start(mountsOf(main), { env })
    await healthy(container)
    for (const { httpGet } of [main.livenessProbe, main.readinessProbe]) {
      const probe = `fetch('http://127.0.0.1:${main.ports[0].containerPort}${httpGet.path}').then(({ ok }) => process.exit(ok ? 0 : 1))`
      await until(
        `${httpGet.path} answers`,
        () => (container.exec(['node', '-e', probe]) === 0 ? true : undefined),
        { timeoutMs: 120_000, seen: container.said },
      )
    }
    await filled(container)
    container.signal('SIGTERM')
    expect(await container.ended, container.said()).toBe(0)
  },
)

test.runIf(reason === undefined)(
  'without mounts it runs the shipped strategies on paper, and settings that cannot be used end with 0 and their reason',
  { timeout: 240_000 },
  async () => {
    const bare = start([{ from: volume('bare', '/app/var'), to: '/app/var', isReadOnly: false }])
    await healthy(bare)
    bare.signal('SIGTERM')
    expect(await bare.ended, bare.said()).toBe(0)
    const wrong = join(folder, 'wrong.json')
    writeFileSync(wrong, '{ "profil": "arbitrum" }\n')
    const refused = start([
      { from: volume('refused', '/app/var'), to: '/app/var', isReadOnly: false },
      { from: wrong, to: '/etc/perpd/perpd.json', isReadOnly: true },
    ])
    expect(await refused.ended, refused.said()).toBe(0)
    expect(refused.said()).toContain('profil')
  },
)
