/** Private clusters of PostgreSQL on free ports, as an operator would start them: from the packages of the machine, in temporary folders. */
import { execFileSync, spawnSync } from 'node:child_process'
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
  start(): void
  /** Copies the stopped cluster's files, and puts them back. */
  save(): void
  restore(): void
  /** Ends it and removes its files. */
  remove(): void
}

const root = '/usr/lib/postgresql'

/** The folder of the newest server's programs. Throws where none is installed: .ci/run installs it. */
function programs(): string {
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Number.isFinite) : []
  const newest = Math.max(...versions)
  const folder = join(root, String(newest), 'bin')
  if (!existsSync(join(folder, 'initdb')))
    throw new Error(`there is no PostgreSQL below ${root}: apt-get install -y postgresql`)
  return folder
}

/** Makes and starts a cluster. */
export async function startCluster(): Promise<Cluster> {
  const bin = programs()
  const folder = mkdtempSync(join(tmpdir(), 'perpd-postgres-'))
  const data = join(folder, 'data')
  const saved = join(folder, 'saved')
  const user = serverUser()
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  const run = (program: string, ...parameters: string[]): string => {
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
  }
  const port = await freePort()
  run('initdb', '-D', data, '-A', 'trust', '-U', 'perpd', '--no-sync', '-E', 'UTF8', '--locale=C')
  appendFileSync(
    join(data, 'postgresql.conf'),
    `listen_addresses='127.0.0.1'\nport=${port}\nunix_socket_directories='${folder}'\nshared_buffers=16MB\n`,
  )
  const ctl = (...parameters: string[]) =>
    run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', ...parameters)
  const start = (): void => {
    try {
      ctl('start')
    } catch (error) {
      const log = existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : ''
      throw new Error(`PostgreSQL did not start\n${log.slice(-2_000)}`, { cause: error })
    }
  }
  const address = `postgres://perpd@127.0.0.1:${port}/postgres`
  start()
  const sql = (text: string): string =>
    run('psql', '-X', '-q', '-t', '-A', '-v', 'ON_ERROR_STOP=1', '-c', text, address).trim()
  const copy = (from: string, to: string): void => {
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true, preserveTimestamps: true })
    if (user !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, to])
    chmodSync(to, 0o700)
  }
  return {
    port,
    url(schema) {
      if (schema === undefined) return address
      sql(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      return `${address}?options=-c%20search_path%3D${schema}`
    },
    sql,
    stop: (mode) => void ctl('-m', mode, 'stop'),
    start,
    save: () => copy(data, saved),
    restore: () => copy(saved, data),
    remove() {
      spawnSync(join(bin, 'pg_ctl'), ['-D', data, '-m', 'immediate', '-w', 'stop'], {
        stdio: 'ignore',
        ...(user ?? {}),
      })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The user of the package's own cluster, where this one is root: a server refuses to run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

async function freePort(): Promise<number> {
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
