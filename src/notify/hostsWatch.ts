/**
 * Watches whether any API host may be asked at all. It notifies when the last one goes into cooldown. It notifies the end when one without a cooldown
 * answers and not all were in cooldown for a minute. So hosts that come and go are one story. Both are reports of the transport, which admission uses
 * too.
 */
import type { Event } from '../domain/event.ts'
import { isGood } from '../monitor/hostFigures.ts'
import { ended } from '../monitor/text.ts'
import type { Notice } from './notice.ts'

const cause = 'hosts'
/** Time without a cooldown of all hosts after which their outage is over, ms. */
const CALM_MS = 60_000

/** Takes events in their order, with their monotonic ms; gives a notice where it turns. */
export function createHostsWatch(): (event: Event, nowMs: number) => Notice | undefined {
  let hosts: readonly string[] = []
  let isDown = false
  /** When all were in cooldown last. */
  let downMs = 0
  return (event, nowMs) => {
    if (event.type === 'daemon.started') {
      hosts = event.apiHosts
      return undefined
    }
    if (event.type === 'host.cooldown') {
      if (event.isLast !== true || !hosts.includes(event.host)) return undefined
      downMs = nowMs
      if (isDown) return undefined
      isDown = true
      return {
        kind: 'hosts-down',
        level: 'error',
        cause,
        text: `all API hosts are in cooldown (${hosts.join(', ')}). The last one was ${event.host}: ${ended(event.reason)} New exposure is blocked until a host responds; perpd keeps retrying`,
        action:
          "Check the network and the name service of this machine. The hosts' answers: perpd status, perpd logs --level warn",
      }
    }
    if (event.type !== 'host.attempt' || !isGood(event) || !hosts.includes(event.host)) return undefined
    if (!isDown || event.isResting === true || nowMs - downMs < CALM_MS) return undefined
    isDown = false
    return {
      kind: 'hosts-up',
      level: 'info',
      cause,
      isEnd: true,
      text: `${event.host} responds again; new exposure is allowed again`,
    }
  }
}
