/** The age of what the page shows: old figures are marked, and nothing is sent by them. */
import { useEffect, useState } from 'preact/hooks'
import { useSlice } from './markup.ts'

/** Without a message of the daemon for so long its figures are old, ms: it sends one every ten seconds. */
const staleMs = 25_000

/** The stream, and the age of its newest message. */
export interface StreamAge {
  readonly state: 'connecting' | 'open' | 'lost' | 'stale'
  /** Absent before the first message, ms. */
  readonly ageMs?: number
  /** The figures are old: nothing is sent or dragged by them. */
  readonly isOld: boolean
}

/** The state of the stream, looked at every second. */
export function useStream(): StreamAge {
  const stream = useSlice((state) => state.stream)
  const heardAtMs = useSlice((state) => state.heardAtMs)
  const [nowMs, setNowMs] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  if (heardAtMs === undefined) return { state: stream, isOld: stream === 'lost' }
  const ageMs = Math.max(0, nowMs - heardAtMs)
  const state = ageMs > staleMs ? 'stale' : stream
  return { state, ageMs, isOld: state === 'stale' || state === 'lost' }
}
