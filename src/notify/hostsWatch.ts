/** Whether any API host may be asked at all: told when the last one goes into cooldown, and when one answers again. */
import type { Event } from '../domain/event.ts'
import { isGood } from '../monitor/hostFigures.ts'
import type { Notice } from './notice.ts'

const cause = 'hosts'

/** Takes events in their order, with the monotonic time of each in ms; gives a notice where it turns. */
export function createHostsWatch(): (event: Event, nowMs: number) => Notice | undefined {
  const untilMs = new Map<string, number>()
  let hosts: readonly string[] = []
  let isDown = false
  return (event, nowMs) => {
    if (event.type === 'daemon.started') {
      hosts = event.apiHosts
      return undefined
    }
    if (event.type === 'host.cooldown') {
      untilMs.set(event.host, nowMs + event.cooldownMs)
      const isAll = hosts.length > 0 && hosts.every((host) => (untilMs.get(host) ?? 0) > nowMs)
      if (isDown || !isAll) return undefined
      isDown = true
      return {
        kind: 'hosts-down',
        level: 'error',
        cause,
        text: `all API hosts are in cooldown (${hosts.join(', ')}), the last one because of ${event.reason}. perpd makes no order until one answers, and goes on asking`,
      }
    }
    if (event.type !== 'host.attempt' || !isGood(event) || !hosts.includes(event.host)) return undefined
    untilMs.delete(event.host)
    if (!isDown) return undefined
    isDown = false
    return {
      kind: 'hosts-up',
      level: 'info',
      cause,
      isEnd: true,
      text: `${event.host} answers again; perpd goes on`,
    }
  }
}
