/** The notice of an event by itself, before anything else has happened. */
import type { Event } from '../../src/domain/event.ts'
import { noticesOf } from '../../src/monitor/events/eventRegister.ts'
import type { Notice } from '../../src/monitor/events/notice.ts'

/** Undefined where nobody is notified of it. */
export function noticeOf(event: Event): Notice | undefined {
  const nothing = {
    apiHosts: [],
    oracleHosts: [],
    open: () => undefined,
    isWaiting: () => false,
    all: () => [],
  }
  const [first] = noticesOf(event, nothing)
  return first?.notice
}
