/** Private clusters of PostgreSQL on free ports, as an operator would start them: from the packages of the machine, in temporary folders. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running cluster. */
export interface Cluster {
  readonly port: number
  /** `postgres://perpd@127.0.0.1:PORT/postgres`, with a schema of its own for each name. */
  url(schema?: string): string
  /** Runs SQL as the superuser; gives what psql prints, without headings. */
  sql(text: string): string
  /** Ends it: `fast` asks its sessions to end, `immediate` is as a crash. */
  stop(mode: 'fast' | 'immediate'): void
  /** Ends it with SIGKILL, and waits until none of its processes is left. */
  kill(): Promise<void>
  start(): void
  /** Where its files are. */
  readonly data: string
  /** Adds lines to its configuration; the next start reads them. */
  configure(lines: string): void
  /** Copies the stopped cluster's files, and puts them back. */
  save(): void
  restore(): void
  /** Makes a base backup while it runs, as files of another cluster with a port of its own, which is not started. `more`: flags of pg_basebackup. */
  backUp(name: string, more: readonly string[], ownPort?: number): Promise<Standby>
  /** Ends it and removes its files. */
  remove(): void
}

const root = '/usr/lib/postgresql'

/** The folder of the newest server's programs. Throws where none is installed: .ci/run installs it. */
export function programs(): string {
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Number.isFinite) : []
  const newest = Math.max(...versions)
  const folder = join(root, String(newest), 'bin')
  if (!existsSync(join(folder, 'initdb')))
    throw new Error(`there is no PostgreSQL below ${root}: apt-get install -y postgresql`)
  return folder
}

/** A cluster that follows another one, and can take its place. */
export interface Standby extends Cluster {
  /** Makes it a primary, on a timeline of its own. */
  promote(): void
}

/** Runs programs of PostgreSQL as the user that may. */
interface Programs {
  readonly folder: string
  run(program: string, ...parameters: string[]): string
  copy(from: string, to: string): void
}

function programsIn(folder: string): Programs {
  const bin = programs()
  const user = serverUser()
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return {
    folder,
    run(program, ...parameters) {
      const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: folder, LC_ALL: 'C.UTF-8' }
      // What it starts must not hold the pipe of an answer open.
      return (
        execFileSync(join(bin, program), parameters, {
          cwd: folder,
          env,
          encoding: 'utf8',
          stdio: program === 'pg_ctl' ? 'ignore' : ['ignore', 'pipe', 'pipe'],
          ...(user ?? {}),
        }) ?? ''
      )
    },
    copy(from, to) {
      rmSync(to, { recursive: true, force: true })
      cpSync(from, to, { recursive: true, preserveTimestamps: true })
      if (user !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, to])
      chmodSync(to, 0o700)
    },
  }
}

/** The cluster whose files are in the subfolder `name`. */
function clusterAt(on: Programs, name: string, port: number): Standby {
  const { folder, run, copy } = on
  const data = join(folder, name)
  const log = join(folder, `${name}.log`)
  const ctl = (...parameters: string[]) => run('pg_ctl', '-D', data, '-l', log, '-w', ...parameters)
  const address = `postgres://perpd@127.0.0.1:${port}/postgres`
  const sql = (text: string): string =>
    run('psql', '-X', '-q', '-t', '-A', '-v', 'ON_ERROR_STOP=1', '-c', text, address).trim()
  return {
    port,
    data,
    url(schema) {
      if (schema === undefined) return address
      sql(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      return `${address}?options=-c%20search_path%3D${schema}`
    },
    sql,
    stop: (mode) => void ctl('-m', mode, 'stop'),
    async kill() {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
      process.kill(pid, 'SIGKILL')
      // They end by themselves once their parent is gone.
      for (const each of children.split('\n').map(Number).filter(Boolean))
        while (existsSync(`/proc/${each}`)) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    start() {
      try {
        ctl('start')
      } catch (error) {
        const said = existsSync(log) ? readFileSync(log, 'utf8') : ''
        throw new Error(`PostgreSQL did not start\n${said.slice(-2_000)}`, { cause: error })
      }
    },
    configure(lines) {
      appendFileSync(join(data, 'postgresql.conf'), lines)
    },
    save: () => copy(data, `${data}.saved`),
    restore: () => copy(`${data}.saved`, data),
    promote: () => void ctl('promote'),
    async backUp(as, more, given) {
      const ownPort = given ?? (await freePort())
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'perpd', '-D', join(folder, as)]
      run('pg_basebackup', ...from, '-c', 'fast', '--no-sync', ...more)
      const copied = clusterAt(on, as, ownPort)
      copied.configure(`port=${ownPort}\ncluster_name='${as}'\n`)
      return copied
    },
    remove() {
      try {
        ctl('-m', 'immediate', 'stop')
      } catch {
        // It does not run.
      }
      rmSync(data, { recursive: true, force: true })
      if (name === 'data') rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Makes and starts a cluster; `settings` are lines of its configuration. */
export async function startCluster(settings = ''): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-postgres-'))
  const on = programsIn(folder)
  const data = join(folder, 'data')
  on.run('initdb', '-D', data, '-A', 'trust', '-U', 'perpd', '--no-sync', '-E', 'UTF8', '--locale=C')
  const port = await freePort()
  const cluster = clusterAt(on, 'data', port)
  cluster.configure(
    `listen_addresses='127.0.0.1'\nport=${port}\nunix_socket_directories='${folder}'\nshared_buffers=16MB\n${settings}`,
  )
  cluster.start()
  return cluster
}

/** The address of several clusters, for whoever looks for the primary of them. */
export function hostsOf(clusters: readonly Cluster[]): string {
  return `postgres://perpd@${clusters.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`
}

/**
 * Makes and starts a standby of a primary that runs: by streaming replication, and synchronous from then on unless `isSynchronous` is false. `name` is that of
 * its folder, and of no other cluster beside it; `port` is a free one where it is absent.
 */
export async function startStandby(
  primary: Cluster,
  isSynchronous = true,
  name = 'standby',
  port?: number,
): Promise<Standby> {
  const standby = await primary.backUp(name, ['-R', '-X', 'stream'], port)
  // The setting of replication has no name of the standby.
  standby.configure("synchronous_standby_names=''\n")
  const conf = join(standby.data, 'postgresql.auto.conf')
  // A copy of one that was a standby itself has the line of then too; the last one counts.
  const named = readFileSync(conf, 'utf8').replace(
    /(?<!application_name=\w+ )user=perpd/g,
    `application_name=${name} user=perpd`,
  )
  writeFileSync(conf, named)
  standby.start()
  if (isSynchronous) {
    demandStandby(primary, name)
  }
  while (Number(primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")) < 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  return standby
}

/** Has a cluster, or a standby once it is promoted, acknowledge only what a standby of this name has. */
export function demandStandby(cluster: Cluster, name: string): void {
  cluster.sql(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (${name})'`)
  cluster.sql('SELECT pg_reload_conf()')
}

/** The user of the package's own cluster, where this one is root: a server refuses to run as root. */
export function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
