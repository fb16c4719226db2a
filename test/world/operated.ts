/** A daemon with a control port that is known beforehand, and an operator's commands beside it. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { daemonFlags, type PaperHosts, perpd, type Running, until } from './processes.ts'

/** The part of `/api/status` that is looked at here. */
export interface Status {
  /** The daemon's clock, Unix ms. */
  readonly nowMs: number
  readonly state: string
  readonly account: string
  readonly tradingState: string
  readonly halts: readonly {
    readonly scope: string
    readonly cause: string
    readonly state: string
    readonly reason: string
    readonly sinceMs: number
    readonly releasedBy: string
  }[]
  readonly kill?: { readonly outcome?: string; readonly close: boolean }
  readonly equity?: unknown
  readonly positions: readonly { readonly sizeInUsd: string }[]
  readonly openIntents: readonly {
    readonly intentId: string
    readonly status: string
    readonly strategy: string
  }[]
}

/** The place of one daemon after the other. */
export interface Operated {
  readonly folder: string
  readonly port: number
  flags(hosts: PaperHosts): string[]
  /** A command beside the daemon, to its end. */
  command(hosts: PaperHosts, ...words: string[]): Promise<{ readonly code: unknown; readonly said: string }>
  /** Undefined while nobody answers. */
  status(): Promise<Status | undefined>
  /** The first status of which something is true. */
  when(what: string, daemon: Running, isTrue: (status: Status) => boolean): Promise<Status>
}

/** Finds a port for a daemon whose state is in `folder`. */
export async function operatedIn(folder: string): Promise<Operated> {
  const port = await freePort()
  const flags = (hosts: PaperHosts): string[] =>
    daemonFlags(folder, hosts).map((flag) =>
      flag.startsWith('--control.port=') ? `--control.port=${port}` : flag,
    )
  async function status(): Promise<Status | undefined> {
    try {
      const token = readFileSync(join(folder, 'control.token.read'), 'utf8').trim()
      const answer = await fetch(`http://127.0.0.1:${port}/api/status`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return answer.ok ? ((await answer.json()) as Status) : undefined
    } catch {
      return undefined
    }
  }
  return {
    folder,
    port,
    flags,
    async command(hosts, ...words) {
      const running = perpd([...words, ...flags(hosts)])
      return { code: await running.ended, said: running.said() }
    },
    status,
    when(what, daemon, isTrue) {
      const look = async () => {
        const seen = await status()
        return seen !== undefined && isTrue(seen) ? seen : undefined
      }
      return until(what, look, { seen: daemon.said })
    },
  }
}

/** How often a daemon told a denial of this code. */
export function denials(daemon: Running, code: string): number {
  return daemon.stdout().split(`"code":"${code}"`).length - 1
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address() as AddressInfo
      server.close(() => resolve(free))
    })
  })
}
