/** Starts a command in a built image behind its own mounts, processes and network, as a container engine does. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './buildImage.ts'
import { script, words } from './cleanRoot.ts'

/** A folder or file of this machine at a place in the container. */
export interface Mount {
  readonly from: string
  readonly to: string
  readonly isReadOnly: boolean
}

/** A process in a container. */
export interface Contained {
  readonly said: () => string
  readonly ended: Promise<number | NodeJS.Signals>
  /** Sends a signal to process 1 of the container. */
  readonly signal: (name: NodeJS.Signals) => void
  /** Runs a command in the running container as its user; its exit code. */
  readonly exec: (command: readonly string[]) => number | null
}

/** Capabilities that a container keeps. */
const noCapabilities: readonly string[] = []

/**
 * Starts a command in the image: read-only but for its mounts and `/tmp`, with no network but itself, no rights to gain, and the capabilities
 * named. The first process is the command itself.
 */
export function startContainer(
  image: Image,
  mounts: readonly Mount[],
  options: {
    readonly command?: readonly string[]
    readonly env?: Readonly<Record<string, string>>
    readonly user?: string
    readonly capabilities?: readonly string[]
  } = {},
): Contained {
  const { user = image.user, command = image.command, capabilities = noCapabilities } = options
  for (const { from, to } of mounts) {
    const place = join(image.root, to)
    if (existsSync(place)) continue
    if (statSync(from).isDirectory()) mkdirSync(place, { recursive: true })
    else writeFileSync(place, '')
  }
  const [uid = '0', gid = '0'] = user.split(':')
  const bounding = ['-all', ...capabilities.map((each) => `+${each}`)].join(',')
  const rights = [
    '/usr/bin/setpriv',
    '--no-new-privs',
    `--bounding-set=${bounding}`,
    '--inh-caps=-all',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
  ]
  const env = { HOME: uid === '0' ? '/root' : '/home/node', ...image.env, ...options.env }
  const child: ChildProcess = spawn(
    'unshare',
    [
      ...[
        '--mount',
        '--pid',
        '--net',
        '--ipc',
        '--uts',
        '--fork',
        '--kill-child',
        'sh',
        '-c',
        script,
        'sh',
        image.root,
        'yes',
      ],
      ...mounts.flatMap(({ from, to, isReadOnly }) => [from, to, isReadOnly ? 'ro' : 'rw']),
      ...['--', ...rights, ...words(env, image.workdir), ...command],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      said += part
    })
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals)
  /** The host's number of process 1 of the container; undefined before it began and after it ended. */
  const first = (): string | undefined => {
    const children = `/proc/${child.pid}/task/${child.pid}/children`
    const [pid = ''] = existsSync(children) ? readFileSync(children, 'utf8').trim().split(' ') : []
    return pid === '' ? undefined : pid
  }
  return {
    said: () => said,
    ended,
    signal(name) {
      const pid = first()
      if (pid === undefined) throw new Error('no process of the container runs')
      process.kill(Number(pid), name)
    },
    exec(inside) {
      const pid = first()
      if (pid === undefined) return null
      const spaces = [
        '--mount',
        '--net',
        '--pid',
        '--ipc',
        '--root',
        '--wd',
        '--setuid',
        uid,
        '--setgid',
        gid,
      ]
      const asked = ['--target', pid, ...spaces, ...words(env, image.workdir), ...inside]
      return spawnSync('nsenter', asked).status
    },
  }
}
