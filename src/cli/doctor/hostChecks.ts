/** Checks of the venue's hosts: each is asked once for something small. */
import type { Api } from '../../api/client.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { span } from '../../monitor/text.ts'
import { type Finding, fail, pass, warn } from './finding.ts'
import { unreachedCause } from './unreachedCause.ts'

/** Clocks apart by this much are told of, and by this much are too far for what is signed, ms. */
const SKEW_WARN_MS = 2_000
const SKEW_FAIL_MS = 10_000
/** An answer that takes longer is slow for trading, ms. */
const SLOW_MS = 2_000
/** Longest wait for one answer, ms. */
const ANSWER_MS = 5_000

/**
 * All hosts of both services, each with how long it took and how far its clock is from ours.
 *
 * @param isOwnVenue whether the daemon itself serves them, on this machine
 */
export async function checkHosts(api: Api, isOwnVenue = false): Promise<readonly Finding[]> {
  const options = (host: string) => ({ host, isFresh: true, attempts: 1, timeoutMs: ANSWER_MS })
  const services = [
    { role: 'application API', hosts: api.hosts.api, ask: (host: string) => api.getTokens(options(host)) },
    { role: 'oracle', hosts: api.hosts.oracle, ask: (host: string) => api.ping(options(host)) },
  ]
  const found = await Promise.all(
    services.map(async ({ role, hosts, ask }) => {
      const looks = hosts.map((host) => lookAt(api, { role, host, isOwnVenue, ask: () => ask(host) }))
      return withOthers(await Promise.all(looks))
    }),
  )
  return found.flat()
}

/** One host that is down is no end while another of its service answers. */
export function withOthers(findings: readonly Finding[]): readonly Finding[] {
  const isServed = findings.some(({ level }) => level !== 'fail')
  return findings.map((each) => (isServed && each.level === 'fail' ? { ...each, level: 'warn' } : each))
}

/** Request to one host. */
interface Look {
  /** Purpose of the host. */
  readonly role: string
  readonly host: string
  readonly isOwnVenue: boolean
  readonly ask: () => Promise<unknown>
}

async function lookAt(api: Api, { role, host, isOwnVenue, ask }: Look): Promise<Finding> {
  const startMs = systemClock.monotonicMs()
  const name = `${role} at ${addressOf(host)}`
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const cause = unreachedCause(error)
    return fail(
      'host',
      `${name}: ${cause?.text ?? error.shortMessage}`,
      cause?.remedy ?? 'Repeat in a minute; while another host of the service answers, perpd continues.',
    )
  }
  return hostFinding(name, systemClock.monotonicMs() - startMs, api.clockSkewMs(host), isOwnVenue)
}

/** Machine and path: of several services on one machine the path alone tells which. */
function addressOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`
}

/** Judges a host by its response. `skewMs`: its clock less ours, to a second, by its Date header. */
export function hostFinding(
  name: string,
  tookMs: number,
  skewMs: number | undefined,
  isOwnVenue = false,
): Finding {
  const clock = skewMs === undefined ? 'no Date header' : `clock ${skewText(skewMs)}`
  const text = `${name} answers in ${span(tookMs)}, ${clock}`
  const apartMs = Math.abs(skewMs ?? 0)
  const remedy = isOwnVenue
    ? "The paper venue's time never goes back: this machine's clock was set back, or was fast when paper.stateFile was written. Orders use the venue's time; a new paper.stateFile starts at the current time."
    : 'Set the clock of this machine: timedatectl set-ntp true'
  if (apartMs >= SKEW_FAIL_MS) return fail('host', text, remedy)
  if (apartMs >= SKEW_WARN_MS) return warn('host', text, remedy)
  return tookMs > SLOW_MS
    ? warn('host', text, 'Run perpd nearer to the hosts, or on a better connection.')
    : pass('host', text)
}

function skewText(skewMs: number): string {
  if (Math.abs(skewMs) < 1_000) return 'as ours'
  return `${span(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} ours`
}
