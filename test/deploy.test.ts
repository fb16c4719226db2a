/** What ships for running perpd elsewhere: the unit, the container, the list of packages. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { sbomOf } from '../deploy/sbom.ts'
import { urlsOf } from '../src/base/hostList.ts'
import { schema } from '../src/config/configSchema.ts'

const root = resolve(import.meta.dirname, '..')
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
}
interface Component {
  readonly name: string
  readonly version: string
  readonly hashes: readonly { readonly content: string }[]
  readonly licenses: readonly { readonly license: { readonly id: string } }[]
}
const locked: Readonly<Record<string, LockedPackage>> = JSON.parse(textOf('package-lock.json')).packages
const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '')

test('the list of packages is that of the lockfile: what npm marks as no part of development, with hash and license', () => {
  const lock = JSON.parse(textOf('package-lock.json'))
  const list = JSON.parse(textOf('deploy/sbom.cdx.json'))
  expect(list, 'run: npm run sbom').toEqual(sbomOf(lock))
  // The compiler's own parts are marked as optional only.
  const runs = Object.entries(locked)
    .filter(([path]) => !path.startsWith('node_modules/@typescript/'))
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path, { version, integrity, license }]) => [`${nameOf(path)}@${version}`, integrity, license])
  const listed = list.components.map((each: Component) => [
    `${each.name}@${each.version}`,
    `sha512-${Buffer.from(each.hashes[0]?.content ?? '', 'hex').toString('base64')}`,
    each.licenses[0]?.license.id,
  ])
  expect(listed.sort()).toEqual(runs.sort())
})

test('packages with a script at installation are those that docs/reference/dependencies.md names, and none of them runs with perpd', () => {
  const withScripts = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  const page = textOf('docs/reference/dependencies.md')
  const section = page.slice(
    page.indexOf('## Scripts at installation'),
    page.indexOf('## The list of everything'),
  )
  const named = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
  expect(withScripts.map(([path]) => nameOf(path)).sort()).toEqual(named.sort())
  expect(withScripts.filter(([, { dev }]) => dev !== true)).toEqual([])
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.runIf(hasSystemd)('the unit is one that systemd takes, and leaves the service little to break', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-unit-'))
  try {
    const unit = join(folder, 'perpd.service')
    // The check wants a program that is there, at a path without spaces.
    const node = join(folder, 'node')
    symlinkSync(process.execPath, node)
    writeFileSync(unit, textOf('deploy/perpd.service').replace('/usr/bin/node', node))
    const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect(`${verified.stdout}${verified.stderr}`).toBe('')
    expect(verified.status).toBe(0)
    // With what a second host adds.
    mkdirSync(`${unit}.d`)
    writeFileSync(join(`${unit}.d`, 'standby.conf'), textOf('deploy/perpd.service.d/standby.conf'))
    const paired = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect([`${paired.stdout}${paired.stderr}`, paired.status]).toEqual(['', 0])
    // Tenths of points, 0 to 100: 14 where this was written.
    execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', '--no-pager', unit])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('every way to start that ships keeps the debugger shut', () => {
  const { scripts } = JSON.parse(textOf('package.json'))
  for (const text of [
    scripts.start,
    scripts.perpd,
    textOf('src/cli/main.ts').split('\n')[0],
    textOf('src/cli/bin.ts').split('\n')[0],
    textOf('deploy/perpd.service'),
    textOf('deploy/compose.yaml'),
    /^CMD .*/m.exec(textOf('Dockerfile'))?.[0],
  ]) {
    expect(text).toContain('--disable-sigusr1')
    // What V8 does not need it gives back: by itself it lets a heap of 60 MB grow to 330 before it looks.
    expect(text).toMatch(/--max-semi-space-size=8"?,? "?--heap-growing-percent=25/)
  }
  // Two arenas of the C library in the place of eight for each core, of which each keeps what its thread once used. The compose file has it from the image.
  for (const text of [
    scripts.start,
    scripts.perpd,
    textOf('src/cli/main.ts').split('\n')[0],
    textOf('src/cli/bin.ts').split('\n')[0],
    /^Environment=MALLOC.*/m.exec(textOf('deploy/perpd.service'))?.[0],
    /^ENV .*/m.exec(textOf('Dockerfile'))?.[0],
  ]) {
    expect(text).toContain('MALLOC_ARENA_MAX=2')
  }
})

test('the container has no rights, no swap, no core file and a file system it cannot write but for its state', () => {
  const { services, secrets } = parse(textOf('deploy/compose.yaml'))
  expect(services.perpd).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    volumes: ['state:/app/var', './settings:/etc/perpd:ro', './strategies:/app/strategies:ro'],
    ulimits: { core: 0 },
    environment: { CREDENTIALS_DIRECTORY: '/run/secrets' },
  })
  // Docker restarts after any code but 0: a configuration that cannot be used must not be tried for ever.
  expect(services.perpd.restart).toBe('on-failure')
  expect(services.perpd.command.join(' ')).toContain('--configuration-exit 0')
  expect(textOf('deploy/perpd.service')).toContain('RestartPreventExitStatus=4')
  expect(services.perpd.memswap_limit).toBe(services.perpd.mem_limit)
  expect(services.perpd.ports).toBeUndefined()
  // A secret's name is the file's name in the container, which is the credential that perpd looks for.
  expect(Object.keys(secrets)).toEqual(['perpd-password'])
  const dockerfile = textOf('Dockerfile')
  // `node` of the image, by its number.
  expect(dockerfile).toMatch(/^USER 1000:1000$/m)
  // Without mounts there are shipped strategies and settings of its own, which nobody in the container can change.
  for (const line of ['COPY config ./config', 'COPY strategies ./strategies'])
    expect(dockerfile).toContain(line)
  expect(dockerfile).toContain("printf '{}\\n' > /etc/perpd/perpd.json")
  expect(dockerfile.indexOf('/etc/perpd/perpd.json')).toBeLessThan(dockerfile.indexOf('USER 1000'))
  expect(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]).toBe(String(schema.control.port.default))
  // The image alone starts as the service does: what ends with 0 is not tried again.
  const [, own = '[]'] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
  expect(JSON.parse(own)).toEqual(services.perpd.command)
  expect(textOf('deploy/compose.yaml')).toContain(`Port ${schema.control.port.default}`)
  expect(dockerfile).toContain('npm ci --omit=dev --ignore-scripts')
  // npm installs optional peers that development packages are, too; none of them runs with perpd.
  const peers = Object.entries(locked).filter(([, { devOptional }]) => devOptional === true)
  for (const [path] of peers) expect(dockerfile).toContain(path)
  for (const ignored of ['.gitignore', '.dockerignore'])
    expect(textOf(ignored)).toMatch(/^deploy\/secrets\/?$/m)
})

test('what a second host adds to the unit sets settings that there are', () => {
  const added = textOf('deploy/perpd.service.d/standby.conf')
  const set = [...added.matchAll(/PERPD__JOURNAL__(\w+)=/g)].map(([, name = '']) => name)
  const known = Object.keys(schema.journal).map((key) => key.replace(/[A-Z]/g, '_$&').toUpperCase())
  expect(set).toEqual(['URL', 'STANDBY', 'SYNCHRONOUS_STANDBY'])
  for (const name of set) expect(known).toContain(name)
})

test('two perpds beside a primary and its standby server are the container twice, with settings, secrets, volumes and names that there are', () => {
  const { services, volumes, secrets } = parse(textOf('deploy/postgres.compose.yaml'), { merge: true })
  const single = parse(textOf('deploy/compose.yaml')).services.perpd
  expect(Object.keys(services)).toEqual(['perpd-one', 'perpd-two', 'database-one', 'database-two'])
  const { CREDENTIALS_DIRECTORY, ...set } = services['perpd-one'].environment
  expect(CREDENTIALS_DIRECTORY).toBe(single.environment.CREDENTIALS_DIRECTORY)
  const variables = Object.keys(schema.journal).map(
    (key) => `PERPD__JOURNAL__${key.replace(/[A-Z]/g, '_$&').toUpperCase()}`,
  )
  for (const name of [...Object.keys(set), 'PERPD__JOURNAL__URL']) expect(variables).toContain(name)
  const text = textOf('deploy/postgres.compose.yaml')
  const [, url = ''] = /PERPD__JOURNAL__URL=(.+?)" >/.exec(text) ?? []
  const databases = ['database-one', 'database-two']
  expect(urlsOf(url.replace(/\$\(.*?\)/, 'password')).map(({ hostname }) => hostname)).toEqual(databases)
  const used = new Set<string>()
  for (const name of ['perpd-one', 'perpd-two']) {
    const { environment, env_file, depends_on, secrets: given, volumes: mounts, ...rest } = services[name]
    const {
      environment: _,
      secrets: __,
      volumes: [___, ...folders],
      ...one
    } = single
    // As the single one, with nothing less.
    expect(rest).toEqual(one)
    expect(mounts.slice(1)).toEqual(folders)
    expect(mounts[0]).toMatch(/^state-\w+:\/app\/var$/)
    expect(env_file).toBe('./secrets/journal.env')
    expect(Object.keys(depends_on)).toEqual(databases)
    expect(given).toEqual(['perpd-password', 'key.json'])
    for (const each of [mounts[0].split(':')[0], ...given]) used.add(each)
  }
  const script = textOf('deploy/postgres/server.sh')
  for (const [index, name] of databases.entries()) {
    const { entrypoint, environment, volumes: mounts, healthcheck, user, cap_drop, ports } = services[name]
    expect(entrypoint.at(-1)).toBe('/etc/perpd/server.sh')
    expect(mounts[1]).toBe('./postgres:/etc/perpd:ro')
    expect(mounts[0]).toBe(`${name}:${environment.PGDATA}`)
    expect([user, cap_drop, ports]).toEqual(['postgres', ['ALL'], undefined])
    // The names that each demands as its standby are those by which they call themselves.
    expect(script).toMatch(new RegExp(`^names='.*\\b${environment.NAME}\\b.*'$`, 'm'))
    expect(environment.FOLLOWS).toContain(index === 0 ? 'DATABASE_ONE_FOLLOWS' : databases[0])
    // Both exist once the server is made.
    expect(healthcheck.test).toEqual(['CMD', 'pg_isready', '-q', '-U', 'owner', '-d', 'perpd'])
    expect(script).toContain('-U owner -E UTF8')
    for (const each of [name, ...services[name].secrets]) used.add(each)
    for (const each of services[name].secrets) expect(script).toContain(`$secrets/${each}`)
    // Versions that perpd takes, and its tests use.
    expect(services[name].image).toMatch(/^\$\{DATABASE_IMAGE:\?/)
  }
  expect([...Object.keys(volumes), ...Object.keys(secrets)].sort()).toEqual([...used].sort())
  for (const [name, { file }] of Object.entries<{ file: string }>(secrets))
    expect(file).toBe(`./secrets/${name}`)
  // What its first lines tell to make is what it mounts, and what they run is a command.
  for (const each of ['perpd-password', 'key.json', 'journal.env'])
    expect(text).toContain(`deploy/secrets/${each}`)
  expect(text).toMatch(/for each in owner perpd replicator/)
  expect(spawnSync('sh', ['-n', join(root, 'deploy/postgres/server.sh')]).status).toBe(0)
})
